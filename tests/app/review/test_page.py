"""The page in a browser: keyboard only, hostile content, many entries, narrow and dark windows."""

import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.app.reports.browser import browser, needs_chromium
from tests.app.review.cases import EVIL, send, serve

pytestmark = needs_chromium
__all__ = ["browser"]


class Address(str):
    """Address of a page for `Browser.open`."""

    def as_uri(self):
        return str(self)


def open_page(browser, server, **options):
    browser.open(Address("about:blank"))
    browser.open(Address(server.url), **options)
    wait(browser, "!document.getElementById('entry').hidden")


def wait(browser, condition):
    until = time.monotonic() + 60
    while not browser.value(condition):
        assert time.monotonic() < until, condition
        time.sleep(0.02)


def question(browser):
    return browser.value("document.getElementById('question').textContent")


def press(browser, key):
    """Press a key and wait until the next entry is shown."""
    browser.press(key, key)
    wait(browser, "!document.body.hasAttribute('aria-busy')")


def shown(session, position):
    return f"Does this sample have the label {session.queue.label.iloc[position]}?"


def test_a_review_with_the_keyboard_only(browser, tmp_path):
    with serve(tmp_path / "store.sqlite") as server:
        session = server.session
        open_page(browser, server)
        for position, (key, answer) in enumerate(
            zip("ynusy", ["present", "absent", "unsure", "skip", "present"], strict=True)
        ):
            assert question(browser) == shown(session, position)
            sample = session.queue["sample"].iloc[position]
            assert f"words of song {sample}" in browser.value("document.getElementById('texts').textContent")
            press(browser, key)
            # The annotation is stored before the next entry is shown.
            assert session.store.annotations()[-1].answer == answer
        press(browser, "z")
        assert question(browser) == shown(session, 4)
        assert len(session.store.annotations()) == 4
        browser.press("Tab")
        assert browser.value("document.activeElement.id") == "fields"
        for name in ("Yes y", "No n", "Unsure u"):
            browser.press("Tab")
            assert browser.value("document.activeElement.textContent") == name
        browser.press("Enter", "\r")
        wait(browser, "document.getElementById('progress').textContent.startsWith('4 annotations')")
        assert session.store.annotations()[-1].answer == "unsure"


def test_all_requests_go_to_the_server_and_nothing_is_reported(browser, tmp_path):
    with serve(tmp_path / "store.sqlite") as server:
        open_page(browser, server)
        for key in "ynyz":
            press(browser, key)
        urls = browser.requests()
        assert len(urls) >= 8
        assert all(url.startswith(f"http://127.0.0.1:{server.port}/") for url in urls)
        assert browser.errors() == []


def test_the_last_entry_ends_the_review(browser, tmp_path):
    with serve(tmp_path / "store.sqlite", n=3, l=2) as server:
        open_page(browser, server)
        for _ in range(len(server.session.queue)):
            press(browser, "y")
        assert browser.value("document.getElementById('entry').hidden")
        assert browser.value("document.getElementById('message').textContent").startswith("All entries are decided")
        press(browser, "y")
        press(browser, "z")
        assert not browser.value("document.getElementById('entry').hidden")


def test_entries_of_another_reviewer_are_shown_when_they_are_all_that_is_left(browser, tmp_path):
    path, options = tmp_path / "store.sqlite", {"n": 10, "l": 2}
    with serve(path, reviewer=EVIL, **options) as other, serve(path, **options) as server:
        (left, _) = other.session.show()
        open_page(browser, server)
        for _ in range(len(server.session.queue) - 1):
            press(browser, "y")
        message = browser.value("document.getElementById('message').textContent")
        assert message.startswith(f"The remaining entries are shown to {EVIL}. Reload the page later")
        browser.value("document.getElementById('take').click()")
        wait(browser, "!document.getElementById('entry').hidden")
        assert question(browser) == shown(server.session, list(server.session.queue.index).index(left))
        press(browser, "y")
        assert browser.value("document.getElementById('message').textContent").startswith("All entries are decided")
        assert browser.value("document.getElementById('take').hidden")


def test_hostile_labels_and_texts_are_shown_as_text(browser, tmp_path):
    hostile = [EVIL, "'\"><svg onload=document.title='taken'>", "javascript:document.title='taken'"]
    content = {"names": hostile, "texts": hostile * 10, "features": hostile, "ids": "<svg onload=document.title=1>"}
    with serve(tmp_path / "store.sqlite", n=30, reviewer=EVIL, **content) as server:
        open_page(browser, server)
        for _ in range(12):
            assert question(browser)[len("Does this sample have the label ") : -1] in hostile
            assert "<svg" in browser.value("document.getElementById('sample-title').textContent")
            assert browser.value("document.getElementById('label-features').children.length") > 0
            press(browser, "y")
        assert browser.value("document.title") == "Review of songs.csv"
        assert browser.value("document.querySelectorAll('script').length") == 1
        assert browser.value("document.querySelectorAll('main svg, main a, main iframe').length") == 0
        assert browser.value("document.querySelectorAll('img').length") == 1
        assert all(url.startswith("http://127.0.0.1") for url in browser.requests())
        assert browser.errors() == []


def test_the_policy_stops_other_scripts_and_requests(browser, tmp_path):
    with serve(tmp_path / "store.sqlite") as server:
        open_page(browser, server)
        browser.value("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
        assert browser.value("window.ran") is None
        # Without network all requests fail, so the page itself must report why.
        browser.value("addEventListener('securitypolicyviolation', e => { window.stopped = e.effectiveDirective }); 0")
        browser.value("fetch('https://example.org/').catch(() => {}); 0")
        wait(browser, "window.stopped === 'connect-src'")


@contextmanager
def other_site(folder):
    """Serve an empty page under another origin, and yield its address."""
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>other</title>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("mode", ["cors", "no-cors"])
def test_a_page_of_another_origin_cannot_decide(browser, tmp_path, mode):
    with serve(tmp_path / "store.sqlite") as server, other_site(tmp_path / "other") as address:
        server.session.decide(0, "present")
        browser.open(Address(address))
        # Even with the token: browsers ask before they send such a header for a page of another origin.
        headers = f"{{'X-Review-Token': '{server.token}', 'Content-Type': 'application/json'}}"
        code = (
            f"fetch('http://127.0.0.1:{server.port}/api/undo', {{method: 'POST', mode: '{mode}', headers: {headers}, "
            "body: '{}'}).then(() => { window.sent = 1 }, () => { window.sent = 2 }); 0"
        )
        browser.value(code)
        wait(browser, "window.sent > 0")
        assert len(server.session.store.annotations()) == 1


def test_the_page_holds_two_of_ten_thousand_entries(browser, tmp_path):
    with serve(tmp_path / "store.sqlite", n=2600) as server:
        session = server.session
        assert len(session.queue) > 10_000
        open_page(browser, server)
        for _ in range(30):
            press(browser, "n")
        assert len(session.store.annotations()) == 30
        assert browser.value("entries.length") == 2
        assert browser.value("document.documentElement.outerHTML.length") < 20_000
        _, _, content = send(server.port, "GET", "/api/entries", server.token)
        assert len(content) < 20_000


def test_a_server_that_stops_is_reported_and_the_entry_stays(browser, tmp_path):
    with serve(tmp_path / "store.sqlite") as server:
        open_page(browser, server)
        press(browser, "y")
        before = question(browser)
    press(browser, "n")
    message = browser.value("document.getElementById('message').textContent")
    # A connection that the browser keeps is answered, but its file is closed.
    assert "The server does not respond" in message or "start spmld review again" in message
    assert question(browser) == before


@pytest.mark.parametrize(("width", "height"), [(1200, 900), (390, 844)])
def test_nothing_is_wider_than_the_window(browser, tmp_path, width, height):
    names, texts = ["a" * 200, "sad"], [("word " * 300 + "b" * 300)] * 50
    with serve(tmp_path / "store.sqlite", names=names, texts=texts) as server:
        open_page(browser, server, width=width, height=height)
        assert browser.value("document.documentElement.scrollWidth") <= width
        buttons = "[...document.querySelectorAll('nav button')].map(b => b.getBoundingClientRect())"
        assert browser.value(f"{buttons}.every(r => r.left >= 0 && r.right <= {width} && r.bottom <= {height})")
        assert browser.value(f"{buttons}.every(r => r.height >= 40 && r.width >= 44)")


def test_all_elements_are_labeled(browser, tmp_path):
    with serve(tmp_path / "store.sqlite") as server:
        open_page(browser, server)
        named = "[...document.querySelectorAll('[aria-labelledby]')].map(e => e.getAttribute('aria-labelledby'))"
        assert browser.value(f"{named}.every(name => document.getElementById(name))")
        assert browser.value("document.querySelectorAll('h1').length") == 1
        assert browser.value("[...document.images].every(i => i.alt)")
        keys = "[...document.querySelectorAll('nav button')].map(b => b.getAttribute('aria-keyshortcuts')).join('')"
        assert browser.value(keys) == "ynusz"
