"""Random and hostile requests to the servers of two reviewers of one file, which is locked and moved in between."""

import http.client
import json
import random
import socket
import sqlite3
from contextlib import ExitStack
from pathlib import Path

from spmld.app.review import AnnotationStore
from spmld.app.review.annotations import ANSWERS
from tests.app.review.cases import serve

PATHS = (
    *("/", "/page.js", "/api/entries", "/api/annotation", "/api/image/0"),
    *("/api/image/-1", "/api/image/9999999999", "/api/image/" + "9" * 5000, "/api/image/%00", "/api/image/%D9%A1"),
    *("/api/image/../store.sqlite", "//api/entries", "/api/entries?x=1#y", "*", "/%2e%2e/x"),
)
HOSTILE_VALUES = (
    None,
    True,
    -1,
    0.5,
    10**30,
    -(10**30),
    1e308,
    "",
    "0",
    "\ud800",
    "\x00",
    "present",
    [],
    {},
    "x" * 5000,
)
HOSTILE_BODIES = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"1",
    b'"x"',
    b"\xff\xfe",
    b"NaN",
    b'{"entry": NaN}',
    b"{}" * 6000,
    b"\x00",
)
HOSTILE_LINES = (
    b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"\x16\x03\x01\x02\x00",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /api/undo",
    b"\xff" * 70_000,
    b"GET http://[::1/ HTTP/1.1\r\n\r\n",
)
TIMEOUT = 0.05
"""Seconds that a server waits for a file that is locked."""


class ReviewFuzzer:
    """Two reviews of one file, and the annotations that their servers have confirmed."""

    def __init__(self, folder, seed):
        self.rng, self.path, self.problems = random.Random(seed), Path(folder, "store.sqlite"), []
        self.stack, self.confirmed = ExitStack(), {"ann": [], "bob": []}

    def run(self, n_requests):
        """Send requests; return the problems."""
        with self.stack:
            options = {"n": 40, "l": 3}
            self.servers = [
                self.stack.enter_context(serve(self.path, reviewer=name, **options)) for name in self.confirmed
            ]
            for server in self.servers:
                server.session.store._connection.execute(f"PRAGMA busy_timeout = {int(1000 * TIMEOUT)}")
            for step in range(n_requests):
                server = self.rng.choice(self.servers)
                action = self.rng.choices(
                    (self.decide, self.undo, self.send_hostile, self.send_bytes, self.lock, self.move),
                    (8, 2, 6, 1, 1, 1),
                )[0]
                try:
                    action(server)
                except (http.client.HTTPException, OSError, ValueError) as error:
                    self.problems.append(f"request {step}, {action.__name__}: {type(error).__name__}: {error}")
        with AnnotationStore(self.path) as store:
            stored = store.annotations()
        for name, expected in self.confirmed.items():
            found = [
                (annotation.sample, annotation.label, annotation.answer)
                for annotation in stored
                if annotation.reviewer == name
            ]
            if found != expected:
                self.problems.append(f"{name}: {len(expected)} annotations were confirmed, {len(found)} are stored")
        return self.problems

    def ask(self, server, method, path, content=None, statuses=(200,), **headers):
        """Send a request; the response must have one of some statuses, with a message in JSON unless it is 200."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        try:
            values = {"X-Review-Token": server.token, "Content-Type": "application/json"}
            connection.request(method, path, content, {**values, **headers})
            reply = connection.getresponse()
            body = reply.read()
        finally:
            connection.close()
        if reply.status not in statuses:
            self.problems.append(
                f"{method} {path[:60]} {str(content)[:60]} {headers}: status {reply.status}, {body[:200]}"
            )
        if reply.status != 200 and not json.loads(body)["error"]:
            self.problems.append(f"{method} {path[:60]}: no message")
        return reply.status, body

    def decide(self, server, statuses=(200,)):
        """Decide a random entry of the queue."""
        queue, answer = server.session.queue, self.rng.choice(ANSWERS)
        entry = int(self.rng.choice(queue.index))
        status, _ = self.ask(
            server, "POST", "/api/annotation", json.dumps({"entry": entry, "answer": answer}), statuses
        )
        if status == 200:
            self.confirmed[server.session.reviewer].append((int(queue["sample"][entry]), queue.label[entry], answer))

    def undo(self, server):
        """Take back the last annotation, or take an entry."""
        path = self.rng.choice(("/api/undo", "/api/take"))
        self.ask(server, "POST", path, "{}")
        if path == "/api/undo" and self.confirmed[server.session.reviewer]:
            self.confirmed[server.session.reviewer].pop()

    def send_hostile(self, server):
        """Send a request that must be rejected, or that changes nothing."""
        rng, rejected = self.rng, (400, 403, 404)
        kind = rng.randrange(4)
        if kind == 0:
            self.ask(server, "GET", rng.choice(PATHS), statuses=(200, *rejected))
        elif kind == 1:
            body = {"entry": rng.choice(HOSTILE_VALUES), "answer": rng.choice(HOSTILE_VALUES)}
            self.ask(server, "POST", "/api/annotation", json.dumps(body), rejected)
        elif kind == 2:
            self.ask(server, "POST", "/api/annotation", rng.choice(HOSTILE_BODIES), rejected)
        else:
            header = rng.choice(("Host", "Origin", "X-Review-Token", "Sec-Fetch-Site"))
            self.ask(server, "POST", "/api/undo", "{}", rejected, **{header: rng.choice(("", "x", "\xff", "null"))})

    def send_bytes(self, server):
        """Send bytes that are not HTTP, and close the connection."""
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(self.rng.choice(HOSTILE_LINES))

    def lock(self, server):
        """Decide while another process writes."""
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        self.decide(server, (503,))
        connection.close()

    def move(self, server):
        """Decide while the file has another name."""
        moved = self.path.with_name("moved.sqlite")
        self.path.rename(moved)
        self.decide(server, (507,))
        moved.rename(self.path)
