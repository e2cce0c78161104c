"""Pages of the report as documents: valid, self-contained, accessible; and in a real browser, usable."""

import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import html5lib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from pipeline.report import build, plots
from tests.browser import browser
from tests.pipeline.pages import parsed, text_of

LOADED = {"src", "srcset", "poster", "data", "action", "formaction", "background", "manifest", "ping"}
"""attributes by which a page asks for something; links of people are `href`"""


@pytest.fixture(scope="session")
def report(reported):
    """The folder of a report: an odd game, a progressive, two families."""
    return reported / "report"


@pytest.fixture(scope="session")
def documents(report):
    """Path from the report's folder -> document; a strict parser reads all of them."""
    return {path.relative_to(report): parsed(path.read_text(encoding="utf-8")) for path in report.rglob("*.html")}


def test_the_parser_is_strict():
    with pytest.raises(html5lib.html5parser.ParseError):
        parsed("<!DOCTYPE html><title>t</title><p><b>no end</p>")


# --- documents --------------------------------------------------------------------------------------------------------


def test_identifiers_are_unique_and_lead_somewhere(report, documents):
    for path, document in documents.items():
        names = [element.get("id") for element in document.iter() if element.get("id") is not None]
        assert sorted(names) == sorted(set(names)), path
        referred = [
            name
            for element in document.iter()
            for key in ("aria-labelledby", "aria-describedby", "for")
            for name in (element.get(key) or "").split()
        ]
        referred += re.findall(r"url\(#([^)]+)\)", (report / path).read_text(encoding="utf-8"))
        for element in document.iter():
            target = element.get("href") or element.get("{http://www.w3.org/1999/xlink}href")
            if target is None or element.tag == "link":
                continue
            parts = urlsplit(target)
            if parts.scheme:
                assert element.tag == "a", path
            elif parts.path:
                assert (report / path.parent / unquote(parts.path)).exists(), f"{path}: {target}"
            else:
                referred.append(parts.fragment)
        assert set(referred) <= set(names), path


def test_nothing_is_asked_of_anybody(report, documents):
    for path, document in documents.items():
        for element in document.iter():
            assert not LOADED & set(element.attrib), f"{path}: {element.tag} {element.attrib}"
            if element.tag == "link":
                assert element.attrib == {"rel": "icon", "href": "data:,"}
        page = (report / path).read_text(encoding="utf-8")
        (policy,) = [meta for meta in document.iter("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
        assert policy.get("content").startswith("default-src 'none';")
        assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|import\(|WebSocket", page), path


def test_headings_tables_and_pictures_can_be_read_aloud(documents):
    for path, document in documents.items():
        assert document.get("lang") == "en"
        assert text_of(document.find("head").find("title"))
        levels = [int(element.tag[1]) for element in document.iter() if re.fullmatch("h[1-6]", str(element.tag))]
        assert levels[0] == 1, path
        assert levels.count(1) == 1, path
        assert all(after <= before + 1 for before, after in pairwise(levels)), path
        for table in document.iter("table"):
            assert text_of(table.find("caption")), path
            assert all(heading.get("scope") in ("row", "col") for heading in table.iter("th")), path
            assert table.find("thead") is not None, path
        for picture in document.iter("svg"):
            assert picture.get("role") == "img", path
            assert picture.get("aria-label"), path
        for figure in document.iter("figure"):
            assert len(text_of(figure.find("figcaption"))) > 40, path
        skip = next(link for link in document.iter("a"))
        assert skip.get("href") == "#content", path


def test_plots_are_small(report):
    for path in report.rglob("*.html"):
        for svg in re.findall(r"<svg.*?</svg>", path.read_text(encoding="utf-8"), re.DOTALL):
            assert len(svg) < 60_000, path


# --- colours ----------------------------------------------------------------------------------------------------------


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_enough_in_light_dark_and_print():
    """WCAG 2: 4.5 : 1 for text, 3 : 1 for what is drawn."""
    style = (Path(build.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    ]
    assert len(themes) == 3
    for theme in themes:
        for ground in ("ground", "raised"):
            for ink in ("ink", "soft", "link", "good", "bad"):
                assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
        assert contrast(theme["ink"], theme["mark"]) >= 4.5
        for drawn in ("c0", "c1", "c2", "c3", "strong-line"):
            assert contrast(theme[drawn], theme["ground"]) >= 3, drawn


# --- plots ------------------------------------------------------------------------------------------------------------

LABELS = st.text(st.characters(exclude_categories=("C", "Z")), max_size=30)


@settings(deadline=None, max_examples=15)
@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=("C", "Z")), max_size=30), st.floats(0, 1e6)),
        min_size=1,
        max_size=12,
    )
)
def test_any_name_can_stand_beside_a_bar(rows):
    labels, values = [label for label, _ in rows], [value for _, value in rows]
    svg = plots.bars("x", 'a "name" & <tag>', labels, values, "unit", [f"{value:.6f}" for value in values])
    assert svg == plots.bars("x", 'a "name" & <tag>', labels, values, "unit", [f"{value:.6f}" for value in values])
    found = ElementTree.fromstring(svg)
    assert found.get("aria-label") == 'a "name" & <tag>'
    texts = [element.text for element in found.iter("text")]
    assert all(f"{value:.6f}" in texts for value in values)
    assert [label for label in labels if label and label not in texts] == []


def test_a_plot_is_at_home_in_a_page():
    worth, deals = np.array([0.0, 0.5, 1.5, 800.0]), np.array([3, 50, 20, 1])
    drawn = (
        plots.bands("b", "bands", 0.99, 4.4, [(90, 1.645), (95, 1.96), (99, 2.576)]),
        plots.histogram("h", "deals", worth, deals),
        plots.curve("c", "meter", [1.0, 2.0], [0.9, 1.0], 2.0),
        plots.scatter("s", "all", [97.0, 99.5], [4.0, 5.0]),
    )
    for svg in drawn:
        assert not re.search(r"http|xlink|<style|<metadata|#0[1-7]0", svg)
        assert re.findall(r"var\(--(\w+)\)", svg)
        names = re.findall(r' id="([^"]+)"', svg)
        assert all(re.fullmatch(r"[bhcs]-\d+", name) for name in names)
        assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)) <= {(n, "") for n in names} | {
            ("", n) for n in names
        }


# --- in a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("chromium") / "profile") as made:
        yield made


def shown(driver):
    """The rows of the catalogue that can be seen: (game, paytable, payback)."""
    return driver.execute_script(
        "return [...document.querySelectorAll('#paytables tbody tr')].filter(r => r.offsetParent !== null)"
        ".map(r => [0, 1, 3].map(i => r.cells[i].textContent))"
    )


def open_quietly(driver, path):
    """Open a page; nothing but the file itself may have been asked for, and the console stays empty."""
    driver.get_log("performance")
    driver.get(path.as_uri())
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    browsers_own = ("data", "chrome", "chrome-untrusted")
    assert {url for url in asked if urlsplit(url).scheme not in browsers_own} == {path.as_uri()}
    assert driver.get_log("browser") == []


@pytest.mark.programs
def test_a_click_sorts_and_the_keyboard_too(report, driver):
    open_quietly(driver, report / "index.html")
    before = shown(driver)
    heading = driver.find_elements(By.CSS_SELECTOR, "#paytables thead th")[3]
    heading.find_element(By.TAG_NAME, "button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    paybacks = [float(row[2]) for row in shown(driver)]
    assert paybacks == sorted(paybacks, reverse=True)
    heading.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert heading.get_attribute("aria-sort") == "ascending"
    assert shown(driver) == sorted(before, key=lambda row: float(row[2]))
    first = driver.find_elements(By.CSS_SELECTOR, "#paytables thead th")[0]
    first.find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    assert first.get_attribute("aria-sort") == "ascending"
    assert heading.get_attribute("aria-sort") is None
    assert [row[0] for row in shown(driver)] == sorted(row[0] for row in before)
    assert driver.get_log("browser") == []


@pytest.mark.programs
def test_filters_leave_what_fits(report, driver):
    open_quietly(driver, report / "index.html")
    everything = shown(driver)
    count = driver.find_element(By.ID, "f-count")
    driver.find_element(By.ID, "f-text").send_keys("SIX meter")
    assert [row[:2] for row in shown(driver)] == [
        list(row) for row in (
            ("Six by Four, progressive", "meter"),
            ("Six by Four, progressive", "no meter"),
            ("Six by Four, progressive", "above 1 without the meter"),
        )
    ]  # fmt: skip
    assert count.text == f"3 of {len(everything)} shown"
    driver.find_element(By.CSS_SELECTOR, "#filter button[type=reset]").click()
    driver.execute_async_script("setTimeout(arguments[0], 0)")
    assert shown(driver) == everything
    driver.find_element(By.ID, "f-low").send_keys("99")
    driver.find_element(By.ID, "f-high").send_keys("100")
    assert shown(driver) == [row for row in everything if 0.99 <= float(row[2]) <= 1]
    Select(driver.find_element(By.ID, "f-game")).select_by_visible_text("Odd <b>names</b> & Six by Four")
    assert shown(driver) == []
    assert driver.get_log("browser") == []


@pytest.mark.programs
@pytest.mark.parametrize("page", ["index.html", "jacks-or-better/9-6/par-sheet.html"])
def test_pages_fit_a_phone_and_the_keyboard_comes_first_to_the_content(report, driver, page):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    )
    try:
        open_quietly(driver, report / page)
        assert driver.execute_script("return document.documentElement.scrollWidth") == 390
        driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
        assert driver.switch_to.active_element.text == "Skip to the content"
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        assert driver.switch_to.active_element.get_attribute("id") == "content"
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.programs
def test_dark_pages_are_dark(report, driver):
    luminances = []
    for scheme in ("light", "dark"):
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        driver.get((report / "jacks-or-better/9-6/par-sheet.html").as_uri())
        colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        bar = driver.execute_script("return getComputedStyle(document.querySelector('svg [style*=\"--c0\"]')).fill")
        numbers = [[int(n) for n in re.findall(r"\d+", text)[:3]] for text in (colour, bar)]
        luminances.append([luminance("#{:02x}{:02x}{:02x}".format(*some)) for some in numbers])
    (light, light_bar), (dark, dark_bar) = luminances
    assert dark < 0.05 < 0.9 < light
    assert light_bar < dark_bar
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
