"""One built page of the site in a real browser; built by ``make docs``."""

from __future__ import annotations

from pathlib import Path

import pytest

from .report.browser import open_browser, set_width

pytestmark = pytest.mark.browser
SITE = Path(__file__).resolve().parents[1] / "docs" / "_build" / "html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built: make docs")
    driver = open_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.mark.parametrize("width", [360, 1200])
def test_the_first_page_has_its_picture_and_loads_nothing_from_elsewhere(browser, width):
    set_width(browser, width)
    browser.get((SITE / "index.html").as_uri())
    assert browser.find_element("css selector", "h1").text.startswith("Start here")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    picture = "return [...document.images].some((one) => one.src.includes('bunny') && one.naturalWidth > 500)"
    assert browser.execute_script(picture)
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert [name for name in loaded if not name.startswith("file:")] == []
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []


def test_the_gallery_shows_pictures(browser):
    set_width(browser, 1200)
    browser.get((SITE / "gallery" / "index.html").as_uri())
    broken = "return [...document.images].filter((one) => one.complete && !one.naturalWidth).map((one) => one.src)"
    assert browser.execute_script(broken) == []
    assert browser.execute_script("return document.querySelectorAll('.sphx-glr-thumbcontainer').length") >= 12
