"""The page in a real browser: Debian's chromium, driven through selenium."""

from __future__ import annotations

import json

import pytest

from invarot.report import write_page

from .browser import open_browser
from .models import known_model

pytestmark = pytest.mark.browser

# Every visible piece of text whose contrast with what lies behind it is below 4.5: [tag, text, ratio].
FAINT = """
const parse = (c) => { const n = c.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
const linear = (v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
const light = ([r, g, b]) => [r, g, b].map((v) => linear(v / 255))
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const behind = (node) => { for (; node; node = node.parentElement) {
  const c = parse(getComputedStyle(node).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
const found = [];
for (const node of document.querySelectorAll("body *")) {
  if (["SCRIPT", "title", "desc"].includes(node.tagName) || !node.checkVisibility()) continue;
  const text = [...node.childNodes].filter((c) => c.nodeType === 3).map((c) => c.data.trim()).join("");
  if (!text) continue;
  const style = getComputedStyle(node);
  const ink = light(parse(node instanceof SVGElement ? style.fill : style.color)), back = light(behind(node));
  const ratio = (Math.max(ink, back) + .05) / (Math.min(ink, back) + .05);
  if (ratio < 4.5) found.push([node.tagName, text.slice(0, 30), ratio]);
}
return found;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(known_model(300, hostile=True), path, dictionary=[("s20", "t20"), ("s21", "t9")])
    return path.as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = open_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def show(browser, page):
    """Opens the page fresh, in a window of some width, light or dark."""

    def opened(width=1200, scheme="light"):
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        browser.get(page)
        browser.execute_script("document.querySelectorAll('details.fold').forEach((one) => { one.open = true; })")
        return browser

    return opened


def visible(browser, column):
    """The words of a column (1 source, 2 best) in the rows that are shown."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#words tbody tr:not([hidden])')]"
        f".map((row) => row.cells[{column}].querySelector('bdi').textContent)"
    )


def status(browser):
    return browser.execute_script("return document.getElementById('found').textContent")


def find(browser, selector):
    return browser.find_element("css selector", selector)


def test_it_loads_without_a_word_in_the_console_and_without_the_network(show):
    browser = show()
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return document.compatMode") == "CSS1Compat"
    assert len(visible(browser, 1)) == 300
    assert status(browser) == "300 rows"
    assert browser.execute_script(
        "return [...document.querySelectorAll('#words tr')].every((r) => r.cells.length === 6)"
    )


def test_search_looks_in_both_columns_and_says_how_many(show):
    browser = show()
    box = find(browser, "#query")
    box.send_keys("S123")
    assert visible(browser, 1) == ["s123"]
    assert status(browser) == "1 of 300 rows found"
    box.clear()
    box.send_keys("t277")
    assert "s277" in visible(browser, 1)
    assert all("t277" in row.text for row in browser.find_elements("css selector", "#words tbody tr:not([hidden])"))
    box.send_keys("zzz")
    assert visible(browser, 1) == []
    assert status(browser) == "No row found"
    box.send_keys("\ue00c")  # Escape clears
    assert len(visible(browser, 1)) == 300
    box.send_keys("<script>")
    assert "<script>alert(1)</script>" in visible(browser, 1)


def test_sorting_by_every_column(show):
    browser = show()
    number = "Number(row.cells[3].textContent.replace('−', '-'))"
    scores = f"return [...document.querySelectorAll('#words tbody tr')].map((row) => {number})"
    state = "return [...document.querySelectorAll('#words [aria-sort]')].map((h) => h.getAttribute('aria-sort'))"
    button = "#words button[data-key={}]"
    find(browser, button.format("score")).click()
    falling = browser.execute_script(scores)
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > falling[-1]
    assert browser.execute_script(state) == ["none", "none", "none", "descending"]
    find(browser, button.format("score")).send_keys("\n")  # by keyboard
    assert browser.execute_script(scores) == sorted(falling)
    assert browser.execute_script(state)[3] == "ascending"
    find(browser, button.format("word")).click()
    names = [one for one in visible(browser, 1) if one[0] == "s" and one[1:].isdigit()]
    assert names == sorted(names, key=lambda one: int(one[1:]))
    find(browser, button.format("word")).click()
    assert [one for one in visible(browser, 1) if one[0] == "s" and one[1:].isdigit()] == names[::-1]
    find(browser, button.format("rank")).click()
    assert visible(browser, 1)[7:10] == ["s7", "s8", "s9"]
    find(browser, "#query").send_keys("s19")  # a search keeps the order, a sort keeps the search
    find(browser, button.format("rank")).click()
    assert visible(browser, 1)[0] == "s199"


@pytest.mark.parametrize("width", [320, 360, 768])
def test_a_phone_never_scrolls_sideways(show, width):
    browser = show(width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    out = (
        "return [...document.querySelectorAll('body *')].filter((n) => n.checkVisibility() && !n.closest('.box, .skip')"
        f" && n.getBoundingClientRect().right > {width} + 1).map((n) => n.outerHTML.slice(0, 80))"
    )
    assert browser.execute_script(out) == []
    shown = browser.execute_script(
        "return ['wide', 'narrow'].map((k) => document.querySelector('#after-' + k).checkVisibility())"
    )
    assert shown == [width > 640, width <= 640]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_all_text_can_be_read(show, scheme, width):
    browser = show(width, scheme)
    browser.execute_script("document.querySelector('details').open = true")
    assert browser.execute_script(FAINT) == []
    browser.execute_script("document.querySelector('h1').style.color = '#777'")
    assert [tag for tag, _, _ in browser.execute_script(FAINT)] == ["H1"]  # the check can fail


def test_the_dark_page_is_dark(show):
    colour = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert min(show(scheme="light").execute_script(colour)) > 200
    assert max(show(scheme="dark").execute_script(colour)) < 60


def test_what_a_screen_reader_is_told(show):
    browser = show()
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    told = [
        (n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored") and "role" in n
    ]
    assert ("searchbox", "Find a word, in either language") in told
    assert ("navigation", "Sections") in told
    assert {"banner", "main", "contentinfo", "status", "search"} <= {role for role, _ in told}
    pictures = [name for role, name in told if role in ("image", "img")]
    assert "Both spaces after alignment" in pictures
    assert "Probability 0.97" in pictures
    assert all(pictures)
    assert all(name for role, name in told if role in ("button", "link", "heading", "table", "region")), json.dumps(
        told[:50]
    )


def test_the_keyboard_shows_where_it_is(show):
    browser = show()
    body = find(browser, "body")
    body.send_keys("\ue004")  # Tab
    assert browser.switch_to.active_element.text == "Skip to the report"
    assert find(browser, ".skip").location["y"] >= 0
    style = browser.execute_script("return getComputedStyle(document.activeElement).outline")
    assert "solid 3px" in style


def test_without_the_script_the_table_is_still_there(show, browser):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show()
        assert len(browser.find_elements("css selector", "#words tbody tr")) == 300
        assert not find(browser, "form.search").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_phone_shows_the_translation(show):
    browser = show(360)
    inside = browser.execute_script(
        """const box = document.querySelector('#words').closest('.box').getBoundingClientRect();
        return [...document.querySelectorAll('#words tbody tr')].slice(20, 60).every((row) => {
          const cell = row.cells[2].getBoundingClientRect();
          return cell.width > 20 && cell.left >= box.left && cell.right <= box.right; })"""
    )
    assert inside
