"""The explorer in a real browser: search, click, and 20,000 points without lag."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from invarot.report.explorer import Explorer, explorer_section
from invarot.report.page import render_shell

from .browser import open_browser, set_width

pytestmark = pytest.mark.browser
MANY = 20_000
LAG = 150.0  # milliseconds a picture may take to draw; about 15 on an idle core


def make_page(count):
    """Source point i is named si, lies at its place on a spiral, and is matched to target ti."""
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 60, count)
    places = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
    shown = Explorer(
        names=([f"s{i}" for i in range(count)], [f"t{i}" for i in range(count)]),
        before=(places, rng.normal(size=(count, 2))),
        after=(places, places + 0.1),
        matches=np.column_stack([np.arange(count), (np.arange(count) + 1) % count]),
        scores=np.column_stack([np.full(count, 0.9), np.full(count, 0.5)]),
        loose=(np.array([5]), np.array([], int)),
        score_name="score",
        totals=(count, count),
    )
    drawn = explorer_section(shown, thing="point", note="")
    return render_shell(
        "aligned", "test", eyebrow="", sizes="", sections=[("explorer", "Both", drawn)], scripts=("fold", "explorer")
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = open_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def show(browser, tmp_path):
    def opened(count, width=1200):
        path = tmp_path / "page.html"
        path.write_text(make_page(count), encoding="utf-8")
        set_width(browser, width)
        browser.get(path.as_uri())
        wait(browser)
        return browser

    return opened


def wait(browser):
    """Wait until the picture is drawn."""
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))"
    )


def chosen(browser):
    return browser.execute_script("return document.getElementById('chosen').textContent")


def test_search_finds_names_of_both_sides(show):
    browser = show(300)
    browser.find_element("css selector", "#find").send_keys("S12\n")  # Enter takes the first
    assert chosen(browser) == "s12Its matches, best first:t12 score 0.9t13 score 0.5"
    browser.find_element("css selector", "#chosen ol button").click()
    assert chosen(browser).startswith("t12Best match of:s12")
    assert browser.get_log("browser") == []


def test_a_click_chooses_the_nearest_point(show):
    browser = show(300)
    where = browser.execute_script(
        """const box = document.getElementById('map').getBoundingClientRect();
        const data = JSON.parse(document.getElementById('points').textContent).after[0];
        const size = Math.min(box.width, box.height);
        return [box.left + box.width / 2 + (data[400] / 9999 - .5) * size, box.top + box.height / 2 - (data[401] / 9999 - .5) * size];"""
    )
    from selenium.webdriver.common.action_chains import ActionChains

    browser.execute_script("window.scrollTo(0, 0)")
    actions = ActionChains(browser)
    actions.w3c_actions.pointer_action.move_to_location(*(round(one) for one in where))
    actions.click().perform()
    assert chosen(browser)[:4] in ("s200", "t200", "s199", "s201", "t199", "t201")


def test_a_point_without_a_counterpart_says_so(show):
    browser = show(300)
    browser.find_element("css selector", "#find").send_keys("s5\n")
    assert chosen(browser) == "s5No counterpart."


def test_twenty_thousand_points_without_lag(show):
    browser = show(MANY)
    took = []
    for selector in ('[data-zoom="1.5"]', '[data-zoom="1.5"]', '[data-view="before"]', '[data-view="after"]'):
        browser.execute_script(f"document.querySelector('{selector}').click()")
        wait(browser)
        took.append(float(browser.execute_script("return document.getElementById('map').dataset.milliseconds")))
    searched = browser.execute_script(
        """const box = document.getElementById('find'), begun = performance.now();
        box.value = 's1999'; box.dispatchEvent(new Event('input')); return performance.now() - begun;"""
    )
    print(f"drawn in {took} ms, searched in {searched:.1f} ms")
    assert statistics.median(took) < LAG
    assert searched < LAG
    assert "11 found" in browser.execute_script("return document.getElementById('hits-found').textContent")


def test_on_a_phone_the_matches_come_below(show):
    browser = show(300, width=360)
    left, width = browser.execute_script(
        "const box = document.querySelector('.aside').getBoundingClientRect(); return [box.left, box.width]"
    )
    assert left < 60
    assert width > 200
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
