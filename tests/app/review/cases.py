"""Reviews of generated samples, and a server in a thread."""

import http.client
import json
import threading
from contextlib import contextmanager

import numpy as np

from spmld.app.review import AnnotationStore, ReviewServer, ReviewSession, make_queue
from spmld.app.review.editable_tables import CsvTable
from spmld.app.review.evidence import Evidence
from spmld.app.review.table_samples import TableSamples
from spmld.audit import LabelIssues

EVIL = "<script>document.title = 'taken'</script><img src=https://example.org/x onerror=\"document.title='taken'\">"


FEATURES = ("loud", "fast", "long")


def make_issues(log_odds, quality_log_odds, signs, names):
    """Return the result of an audit with these scores."""
    limits = np.full(len(names), 1e9), (0.0, 1e9)
    return LabelIssues(
        log_odds, quality_log_odds, *limits, False, None, signs, np.array([0, 1]), names, list(range(len(signs)))
    )


def make_session(store, n=50, l=4, names=None, texts=None, reviewer="ann", features=FEATURES, ids=None, **options):
    """Return a session for a table with random labels, a third of them missing."""
    rng = np.random.default_rng(0)
    names = names or [f"label {j}" for j in range(l)]
    texts = texts or [f"words of song {i}" for i in range(n)]
    signs = rng.integers(-1, 2, size=(n, len(names)))
    quality = np.where(signs != 0, rng.normal(size=signs.shape), np.nan)
    issues = make_issues(rng.normal(size=signs.shape), quality, signs, list(names))
    X = rng.normal(size=(n, 3))
    quoted = ['"' + text.replace('"', '""') + '"' for text in texts]
    lines = [[text, *(f"{value:.3f}" for value in x)] for text, x in zip(quoted, X, strict=True)]
    header = ["words", *('"' + name.replace('"', '""') + '"' for name in features)]
    if ids is not None:
        header, lines = ["id", *header], [[f'"{i} {ids}"', *line] for i, line in enumerate(lines)]
    table = CsvTable("\n".join(map(",".join, [header, *lines])))
    samples = TableSamples(table, [], id=None if ids is None else "id")
    evidence = Evidence(X, signs, list(features))
    return ReviewSession(
        make_queue(issues, min_priority=0), store, samples, evidence, reviewer=reviewer, title="songs.csv", **options
    )


@contextmanager
def serve(path, timeout=30, **options):
    """Run a server in a thread."""
    with AnnotationStore(path, timeout) as store:
        server = ReviewServer(make_session(store, **options))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.close()


def send(port, method, path, token=None, body=None, headers=None):
    """Send a request; return status, headers and content."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    values = {} if token is None else {"X-Review-Token": token}
    if body is not None:
        values["Content-Type"] = "application/json"
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {**values, **(headers or {})})
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()
