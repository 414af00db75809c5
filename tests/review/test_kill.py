"""A server that is killed at any moment has stored every decision that it has confirmed."""

import json
import threading
import time
from http.client import HTTPException

from spmld.review import DecisionStore, ReviewServer
from tests.commands import start
from tests.review.cases import make_session, send

DELAYS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)  # seconds after the first confirmed decision


def serve_forever(path):
    """Serve a review of generated samples until the process is killed."""
    with DecisionStore(path) as store:
        server = ReviewServer(make_session(store, n=2000))
        print(server.port, server.token, flush=True)
        server.serve_forever()


def wait(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def post(port, token, start, stop, confirmed):
    """Send decisions about every second entry until the server is killed."""
    position = start
    while not stop.is_set():
        body = {"position": position, "answer": "present" if position % 3 else "absent"}
        try:
            status, _, content = send(port, "POST", "/api/decision", token, body)
        except (OSError, HTTPException):
            return
        if status == 200 and "entries" in json.loads(content):
            confirmed.append((position, body["answer"]))
        position += 2


def test_confirmed_decisions_survive_a_kill_at_any_moment(tmp_path):
    path, expected, first = tmp_path / "store.sqlite", [], 0
    for number, delay in enumerate(DELAYS):
        out = tmp_path / f"out{number}"
        server = start(serve_forever, path, folder=tmp_path, out=out, err=tmp_path / "err")
        wait(lambda out=out: out.exists() and out.read_text().endswith("\n"))
        port, token = out.read_text().split()
        confirmed, stop = [], threading.Event()
        arguments = (int(port), token)
        threads = [threading.Thread(target=post, args=(*arguments, first + part, stop, confirmed)) for part in (0, 1)]
        for thread in threads:
            thread.start()
        wait(lambda confirmed=confirmed: confirmed)
        time.sleep(delay)
        server.kill()
        server.join(60)
        stop.set()
        for thread in threads:
            thread.join(60)
        expected += confirmed
        with DecisionStore(path) as store:
            stored = [(decision.answer, decision.sample, decision.label) for decision in store.decisions()]
        # Two requests may have been stored without a reply.
        assert len(expected) <= len(stored) <= len(expected) + 2 * (number + 1)
        assert len(set(stored)) == len(stored)
        first = max(position for position, _ in expected) + 10
    check_answers(path, expected)


def check_answers(path, expected):
    """Compare the stored decisions with the confirmed ones, entry by entry."""
    with DecisionStore(path) as store:
        queue = make_session(store, n=2000).queue
        names = queue.label_names
        stored = {(decision.sample, decision.label): decision.answer for decision in store.decisions()}
    for position, answer in expected:
        entry = queue[position]
        assert stored[entry.sample, names[entry.label]] == answer
