"""Pages in a browser: without network, with mouse and keyboard, light, dark and narrow."""

import numpy as np
import pytest

from spmld import GLOCAL, MaskedLogistic
from spmld.app.reports import model_report
from spmld.datasets import make_planted
from spmld.estimators import ThresholdClassifier
from tests.app.reports.browser import browser, needs_chromium

pytestmark = needs_chromium
__all__ = ["browser"]
LABELS = 374  # as many as in Corel5k
EVIL = "<script>document.title = 'taken'</script><img src=https://example.org/x onerror=alert(1)>"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Report on a model with many labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    Y = (X @ rng.normal(size=(10, LABELS)) + rng.normal(size=(120, LABELS)) > 3).astype(int)
    Y[:, 1] = 0  # a label without positives has no AUC
    names = [EVIL, *(f"label {i}" for i in range(1, LABELS))]
    model = GLOCAL(max_iter=2, n_warmup_iter=1, tol=None, random_state=0).fit(X[:80], Y[:80])
    path = tmp_path_factory.mktemp("page") / "report with spaces.html"
    html = model_report(model, X[80:], Y[80:], label_names=names, audit=False)
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture
def page(browser, file):
    browser.open(file)
    return browser


TABLE = "[...document.querySelectorAll('h3')].find(h => h.textContent === 'All labels')"
HEADS = f"[...document.getElementById({TABLE}.id + '-table').tHead.rows[0].cells]"
ROWS = f"[...document.getElementById({TABLE}.id + '-table').tBodies[0].rows]"


def head(name):
    return f"{HEADS}.find(h => h.textContent.trim() === '{name}')"


def column(page, name):
    place = f"{HEADS}.indexOf({head(name)})"
    return page.value(f"{ROWS}.filter(r => !r.hidden).map(r => r.cells[{place}].textContent)")


def numbers(texts):
    return [float(text) for text in texts if text != "-"]


def test_a_report_with_374_labels_is_smaller_than_three_megabytes(file):
    assert file.stat().st_size < 3e6


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_opens_without_requests_and_errors(browser, file, dark):
    browser.open(file, dark=dark)
    assert [url for url in browser.requests() if not url.startswith("data:")] == [file.as_uri()]
    assert browser.errors() == []
    assert browser.value("document.title") == "GLOCAL"
    light = browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light != dark
    assert browser.value("[...document.images].every(image => image.naturalWidth > 0)")


def test_the_policy_stops_other_scripts(page):
    page.value("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
    assert page.value("window.ran") is None


def test_a_click_sorts_and_another_reverses(page):
    page.value(f"{head('AUC')}.firstElementChild.click()")
    up = column(page, "AUC")
    assert page.value(f"{head('AUC')}.getAttribute('aria-sort')") == "ascending"
    assert numbers(up) == sorted(numbers(up))
    assert up[-1] == "-"
    page.value(f"{head('AUC')}.firstElementChild.click()")
    down = column(page, "AUC")
    assert numbers(down) == sorted(numbers(up), reverse=True)
    assert down[-1] == "-"
    page.value(f"{head('label')}.firstElementChild.click()")
    assert [name for name in column(page, "label") if name != EVIL] == [f"label {i}" for i in range(1, LABELS)]
    assert page.value(f"{HEADS}.map(h => h.getAttribute('aria-sort')).join()").count("none") == 7


def test_search_shows_matching_rows(page):
    box = f"document.querySelector('[aria-controls=\"' + {TABLE}.id + '-table\"]')"
    page.value(f"{box}.focus()")
    page.ask("Input.insertText", text="LABEL 37")
    assert column(page, "label") == ["label 37", "label 370", "label 371", "label 372", "label 373"]
    assert page.value(f"{box}.closest('p').querySelector('output').textContent") == f"5 of {LABELS} rows"


def test_tables_are_sorted_with_the_keyboard(page):
    page.press("Tab")
    assert page.value("document.activeElement.textContent") == "Skip to content"
    page.value(f"{head('observed')}.firstElementChild.focus()")
    page.press("Tab")
    assert page.value("document.activeElement.textContent") == "positives"
    page.press("Enter", "\r")
    assert page.value(f"{head('positives')}.getAttribute('aria-sort')") == "ascending"
    page.press(" ", " ")
    assert page.value(f"{head('positives')}.getAttribute('aria-sort')") == "descending"
    counts = numbers(column(page, "positives"))
    assert counts == sorted(counts, reverse=True)


def test_all_elements_are_labeled(page):
    assert page.value("[...document.images].every(image => image.alt)")
    named = (
        "[...document.querySelectorAll('[aria-labelledby]')].every(e => document.getElementById(e.getAttribute('{}')))"
    )
    assert page.value(named.format("aria-labelledby"))
    assert page.value("[...document.querySelectorAll('input')].every(i => i.labels.length === 1)")
    assert page.value("document.querySelectorAll('h1').length") == 1


def contrast(one, other):
    """Return the contrast ratio of two colors by WCAG 2."""

    def light(color):
        parts = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted([light(one), light(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_enough_contrast(browser, file, dark):
    browser.open(file, dark=dark)
    for text, ground in (
        ("body", "body"),
        ("a[href='#labels']", "body"),
        ("header p", "body"),
        ("th button", "th"),
        (".tiles small", ".tiles li"),
        ("figcaption", "body"),
    ):
        colors = [
            browser.value(f'getComputedStyle(document.querySelector("{where}")).{what}')
            for where, what in ((text, "color"), (ground, "backgroundColor"))
        ]
        assert contrast(*colors) >= 4.5, text


def test_a_narrow_page_does_not_scroll_sideways(browser, file):
    browser.open(file, width=360, height=740)
    assert browser.value("document.documentElement.scrollWidth") <= 360


def test_tables_and_figures_fit_a_phone(browser, file):
    """Rows of wide tables are lists of names and values, which need no scrolling sideways and can still be sorted."""
    browser.open(file, width=390, height=844)
    wide = "[...document.querySelectorAll('.wide')].map(t => t.parentElement)"
    assert browser.value(f"{wide}.length") > 1
    assert browser.value(f"{wide}.filter(box => box.scrollWidth > box.clientWidth).length") == 0
    assert browser.value("[...document.images].every(image => image.clientWidth <= 390)")
    cell = "document.querySelector('.wide td')"
    assert browser.value(f"getComputedStyle({cell}, '::before').content") == '"metric"'
    browser.value(f"{head('positives')}.firstElementChild.click()")
    positives = numbers(column(browser, "positives"))
    assert positives == sorted(positives)


@pytest.mark.parametrize("width", [1200, 390])
def test_the_tables_of_a_full_report_are_not_cut(browser, tmp_path, width):
    data = make_planted(200, 6, 12, random_state=0)
    names = ["hip-hop & urban contemporary", "a label with a long name", *(f"label {i}" for i in range(2, 12))]
    model = ThresholdClassifier(MaskedLogistic(), cv=3, random_state=0).fit(data.X, data.Y)
    path = tmp_path / "report.html"
    path.write_text(model_report(model, data.X, data.Y, label_names=names), encoding="utf-8")
    browser.open(path, width=width, height=900)
    assert browser.value(f"{HEADS}.map(h => h.textContent.trim())")[-2:] == ["AUC", "threshold"]
    cut = "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)"
    assert browser.value(f"{cut}.map(box => box.getAttribute('aria-labelledby'))") == []


def test_print_shows_whole_tables_without_controls(page):
    page.ask("Emulation.setEmulatedMedia", media="print")
    assert page.value("getComputedStyle(document.querySelector('.search')).display") == "none"
    assert page.value("getComputedStyle(document.querySelector('.scroll')).maxHeight") == "none"
    page.ask("Emulation.setEmulatedMedia", media="")
