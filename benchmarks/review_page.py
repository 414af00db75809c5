"""Response of the review page in Chromium with 10,000 entries: milliseconds from a key to the next entry.

``python -m benchmarks.review_page`` makes 2,500 generated samples with text, 200 features and 8 labels, of which a
third is missing, audits them, and serves a queue of 10,000 entries as `spmld review` does: each annotation is flushed
to disk, and the order is updated in the background after every 50 annotations. A key is pressed 500 times. The time is
measured in the page, from the key to the first frame after the next entry is in the document.
"""

import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

from spmld._table import TextTable
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels
from spmld.review import AnnotationStore, ReviewServer, ReviewSession, make_queue
from spmld.review.evidence import Evidence
from spmld.review.queue import update_issues
from spmld.review.samples import TableSamples
from spmld.review.text_tables import CsvTable
from tests.reports.browser import CHROMIUM, Browser

N_SAMPLES, N_FEATURES, N_LABELS, N_ENTRIES, N_KEYS = 2500, 200, 8, 10_000, 500
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
    if CHROMIUM is None:
        print("Chromium is not installed")
        return
    with tempfile.TemporaryDirectory() as folder, AnnotationStore(Path(folder) / "store.sqlite") as store:
        session, update = make_session(store)
        rows = [["fixed order", *measure(session, folder)]]
        session.on_update(update)
        rows.append(["order updated every 50 annotations", *measure(session, folder)])
        print(
            TextTable(["review", "entries", "keys", "median in ms", "99 % in ms", "maximum in ms"], rows).to_markdown()
        )


def make_session(store):
    data = make_planted(N_SAMPLES, N_FEATURES, N_LABELS, noise=0.5, random_state=0)
    Y = hide_labels(corrupt_labels(data.Y, "flip", 0.05, random_state=0), observed_fraction=0.67, random_state=0)
    issues = find_label_issues(None, data.X, Y, label_names=[f"label {j}" for j in range(N_LABELS)], random_state=0)
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(500)])
    texts = [" ".join(rng.choice(words, 200)) for _ in range(N_SAMPLES)]
    table = CsvTable("\n".join(["id,text", *(f"S{i},{text}" for i, text in enumerate(texts))]))
    arrange = partial(make_queue, min_gain=0, max_entries=N_ENTRIES)
    evidence = Evidence(data.X, issues.signs, [f"x{j}" for j in range(N_FEATURES)])
    session = ReviewSession(arrange(issues), store, TableSamples(table, [], id="id"), evidence, title="songs.csv")
    rows = {key: i for i, key in enumerate(session.samples.keys)}
    columns = {name: j for j, name in enumerate(issues.label_names)}

    def update(outcomes):
        annotations = np.zeros(Y.shape, dtype=int)
        for (key, label), outcome in outcomes.items():
            annotations[rows[key], columns[label]] = {"present": 1, "absent": -1}.get(outcome, 0)
        return arrange(update_issues(issues, data.X, annotations, random_state=0))

    return session, update


def measure(session, folder):
    """Return the number of entries and of keys, and the milliseconds from a key to the next entry."""
    server = ReviewServer(session)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
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
        server.shutdown()
        thread.join()
        server.close()
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
