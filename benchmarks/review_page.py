"""Response of the review page: seconds to the first entry of 100,000, and milliseconds from a key to the next entry.

``python -m benchmarks.review_page`` makes generated samples with text, 200 features and 8 labels, of which a third is
missing, audits them, and serves a queue as `spmld review` does. The first table has 12,500 samples and 100,000 entries,
without a browser: the seconds to make the queue and the session, from the start of the server to the first entry, and
from an annotation to the next entry.

The second table has 2,500 samples and 10,000 entries, in Chromium: each annotation is flushed to disk, and the order is
updated in the background after every 50 annotations. A key is pressed 500 times. The time is measured in the page, from
the key to the first frame after the next entry is in the document.
"""

import json
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np

from benchmarks.sizes import sized
from spmld._table import TextTable
from spmld.app.review import AnnotationStore, ReviewServer, ReviewSession, make_queue
from spmld.app.review.editable_tables import CsvTable
from spmld.app.review.evidence import Evidence
from spmld.app.review.queue import update_issues
from spmld.app.review.table_samples import TableSamples
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels
from tests.app.reports.browser import CHROMIUM, Browser

N_FEATURES, N_LABELS, N_KEYS = sized((200, 8, 500), (10, 4, 3))
N_SAMPLES, N_IN_BROWSER, N_ENTRIES = sized((12_500, 2500, 10_000), (100, 100, 200))
PATHS = ("/", "/colors.css", "/page.css", "/page.js", "/api/entries")
CLOCK = """
window.times = [];
addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
new MutationObserver(() => {
  if (!document.body.hasAttribute("aria-busy"))
    requestAnimationFrame(() => { times.push(performance.now() - pressed); });
}).observe(document.body, { attributeFilter: ["aria-busy"] });
0
"""


def main():
    with tempfile.TemporaryDirectory() as folder, AnnotationStore(Path(folder) / "store.sqlite") as store:
        print(measure_first_page(store, N_SAMPLES).to_markdown())
    if CHROMIUM is None:
        print("Chromium is not installed")
        return
    with tempfile.TemporaryDirectory() as folder, AnnotationStore(Path(folder) / "store.sqlite") as store:
        session, update = make_session(store, N_IN_BROWSER, N_ENTRIES)
        rows = [["fixed order", *measure(session, folder)]]
        session.on_update(update)
        rows.append(["order updated every 50 annotations", *measure(session, folder)])
        print(
            TextTable(["review", "entries", "keys", "median in ms", "99 % in ms", "maximum in ms"], rows).to_markdown()
        )


def make_session(store, n_samples, n_entries=None, seconds=None):
    """Return a session and the function that updates its queue. Append the time of queue and session to `seconds`."""
    data = make_planted(n_samples, N_FEATURES, N_LABELS, noise=0.5, random_state=0)
    Y = hide_labels(corrupt_labels(data.Y, "flip", 0.05, random_state=0), observed_fraction=0.67, random_state=0)
    issues = find_label_issues(None, data.X, Y, label_names=[f"label {j}" for j in range(N_LABELS)], random_state=0)
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(500)])
    texts = [" ".join(rng.choice(words, 200)) for _ in range(n_samples)]
    table = CsvTable("\n".join(["id,text", *(f"S{i},{text}" for i, text in enumerate(texts))]))
    arrange = partial(make_queue, min_priority=0, max_entries=n_entries)
    evidence = Evidence(data.X, issues.signs, [f"x{j}" for j in range(N_FEATURES)])
    samples, start = TableSamples(table, [], id="id"), time.perf_counter()
    session = ReviewSession(arrange(issues), store, samples, evidence, title="songs.csv")
    if seconds is not None:
        seconds.append(time.perf_counter() - start)
    rows = {key: i for i, key in enumerate(session.samples.keys)}
    columns = {name: j for j, name in enumerate(issues.label_names)}

    def update(outcomes):
        annotations = np.zeros(Y.shape, dtype=int)
        for (key, label), outcome in outcomes.items():
            annotations[rows[key], columns[label]] = {"present": 1, "absent": -1}.get(outcome, 0)
        return arrange(update_issues(issues, data.X, annotations, random_state=0))

    return session, update


@contextmanager
def serve(session):
    """Run a server in a thread."""
    server = ReviewServer(session)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.close()


def measure_first_page(store, n_samples):
    """Return a table of the seconds to the first entry and to the next one, without a browser."""
    seconds = []
    session, _ = make_session(store, n_samples, seconds=seconds)
    start = time.perf_counter()
    with serve(session) as server:
        for path in PATHS:
            content = request(server, path)
        seconds.append(time.perf_counter() - start)
        entry, start = json.loads(content)["entries"][0]["entry"], time.perf_counter()
        request(server, "/api/annotation", {"entry": entry, "answer": "present"})
        seconds.append(time.perf_counter() - start)
    columns = ["entries", "queue and session in s", "first entry in s", "next entry in s"]
    return TextTable(columns, [[f"{len(session.queue):,}", *(f"{value:.2f}" for value in seconds)]])


def request(server, path, body=None):
    """Return the content of a page, or of the response to data."""
    headers = {"X-Review-Token": server.token, "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"http://127.0.0.1:{server.port}{path}", content, headers)) as response:
        return response.read()


def measure(session, folder):
    """Return the number of entries and of keys, and the milliseconds from a key to the next entry."""
    with serve(session) as server:
        browser = Browser(Path(folder) / f"chromium{server.port}")
        try:
            browser.open(Address(server.url))
            wait(browser, "!document.getElementById('entry').hidden && !busy")
            browser.value(CLOCK)
            for i in range(N_KEYS):
                browser.press("y" if i % 2 else "n")
                wait(browser, f"times.length > {i}")
            times = np.array(browser.value("times"))
        finally:
            browser.close()
    values = np.median(times), np.quantile(times, 0.99), times.max()
    return f"{len(session.queue):,}", len(times), *(f"{value:.0f}" for value in values)


class Address(str):
    """Address of a page for `Browser.open`."""

    def as_uri(self):
        """Return the address."""
        return str(self)


def wait(browser, condition):
    until = time.monotonic() + 60
    while not browser.value(condition):
        assert time.monotonic() < until, condition
        time.sleep(0.005)


if __name__ == "__main__":
    main()
