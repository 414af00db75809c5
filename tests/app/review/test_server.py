"""The server: order of entries, rejected requests, and several reviewers."""

import http.client
import json
import socket
import struct
import threading
from contextlib import closing

import pytest

from spmld.app.review import AnnotationStore, ReviewServer
from spmld.app.review.annotations import resolve
from spmld.app.review.editable_tables import CsvTable, JsonTable
from spmld.app.review.table_samples import TableSamples
from tests.app.review.cases import EVIL, make_session, send, serve


@pytest.fixture
def server(tmp_path):
    with serve(tmp_path / "store.sqlite") as running:
        yield running


def ask(server, method, path, body=None, **headers):
    status, _, content = send(server.port, method, path, server.token, body, headers)
    assert status == 200, content
    return json.loads(content)


def test_decisions_follow_the_queue_and_undo_goes_back(server):
    queue, store = server.session.queue, server.session.store
    state = ask(server, "GET", "/api/entries")
    shown = []
    for answer in ("present", "absent", "unsure", "skip", "present"):
        entry = state["entries"][0]["entry"]
        shown.append(entry)
        state = ask(server, "POST", "/api/annotation", {"entry": entry, "answer": answer})
        assert store.annotations()[-1].answer == answer
    entries = queue.index.tolist()
    assert shown == entries[:5]
    assert state["progress"]["decided"] == 4
    state = ask(server, "POST", "/api/undo", {})
    assert [entry["entry"] for entry in state["entries"]] == entries[4:6]
    for entry in entries[4:]:
        state = ask(server, "POST", "/api/annotation", {"entry": entry, "answer": "unsure"})
    assert [entry["entry"] for entry in state["entries"]] == [entries[3]]  # the skipped one comes last
    state = ask(server, "POST", "/api/annotation", {"entry": entries[3], "answer": "absent"})
    assert state["entries"] == []
    assert state["progress"]["decided"] == len(queue)


def test_progress_counts_the_corrected_labels(server):
    session, corrected = server.session, 0
    for entry, answer in zip(session.queue.itertuples(), ["present", "absent"] * 20, strict=False):
        current = entry.probability > 0.5 if entry.given == "missing" else entry.given == "present"
        corrected += current != (answer == "present")
        session.decide(entry.Index, answer)
    assert session.progress() == {"entries": len(session.queue), "decided": 40, "corrected": corrected}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "example.org"},
        {"Host": "127.0.0.1"},
        {"Host": "rebound.example.org:80"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-Review-Token": "wrong"},
        {"X-Review-Token": ""},
    ],
)
def test_requests_of_others_are_rejected(server, headers):
    for method, path, body in (
        ("GET", "/api/entries", None),
        ("GET", "/api/image/0", None),
        ("POST", "/api/annotation", {"entry": 0, "answer": "present"}),
        ("POST", "/api/undo", {}),
    ):
        status, _, content = send(server.port, method, path, server.token, body, headers)
        assert status == 403
        assert b"words" not in content
    assert server.session.store.annotations() == []


def test_the_server_listens_on_the_loopback_address_only(server):
    assert server._server.server_address[0] == "127.0.0.1"
    for family, _, _, _, address in socket.getaddrinfo(socket.gethostname(), server.port, type=socket.SOCK_STREAM):
        if not address[0].startswith("127."):
            with socket.socket(family) as outside:
                outside.settimeout(5)
                assert outside.connect_ex(address) != 0


def test_pages_have_a_strict_policy_and_no_token(server):
    for path in ("/", "/page.js", "/page.css"):
        status, headers, content = send(server.port, "GET", path)
        assert status == 200
        assert server.token.encode() not in content
        assert b"http" not in content.replace(b"http-equiv", b"")
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/absent", None, 404),
        ("GET", "/../store.sqlite", None, 404),
        ("GET", "/api/image/0", None, 404),
        ("GET", "/api/image/../../etc/passwd", None, 404),
        ("POST", "/api/annotation", {"entry": 10**9, "answer": "present"}, 400),
        ("POST", "/api/annotation", {"entry": "0", "answer": "present"}, 400),
        ("POST", "/api/annotation", {"entry": True, "answer": "present"}, 400),
        ("POST", "/api/annotation", {"entry": 0, "answer": "maybe"}, 400),
        ("POST", "/api/annotation", {"entry": 0}, 400),
        ("POST", "/api/annotation", [], 400),
        ("POST", "/api/annotation", {"x": "x" * 20_000}, 400),
    ],
)
def test_invalid_requests_are_answered_and_change_nothing(server, method, path, body, status):
    got, _, content = send(server.port, method, path, server.token, body)
    assert got == status
    assert set(json.loads(content)) == {"error"}
    assert server.session.store.annotations() == []
    assert ask(server, "GET", "/api/entries")["entries"][0]["entry"] == server.session.queue.index[0]


def test_a_body_that_is_nested_deeply_is_rejected(server):
    headers = {"Content-Type": "application/json", "X-Review-Token": server.token}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with closing(connection):
        connection.request("POST", "/api/annotation", "[" * 9000, headers)
        reply = connection.getresponse()
        assert reply.status == 400
        assert json.loads(reply.read()).keys() == {"error"}  # from Python 3.13 on, this depth is parsed


def test_a_body_of_another_type_is_rejected(server):
    # HTML forms of other origins can send text without asking.
    headers = {"Content-Type": "text/plain"}
    status, _, _ = send(server.port, "POST", "/api/undo", server.token, {}, headers)
    assert status == 400


def test_reviewers_share_the_work_unless_they_overlap(tmp_path):
    path = tmp_path / "store.sqlite"
    with AnnotationStore(path) as one, AnnotationStore(path) as two, AnnotationStore(path) as three:
        ann, bob = make_session(one), make_session(two, reviewer="bob")
        eve = make_session(three, reviewer="eve", overlap=True)
        first, second = ann.queue.index[:2]
        ann.decide(ann.upcoming()[0], "present")
        assert bob.upcoming() == [second]
        assert eve.upcoming() == [first]
        eve.decide(first, "absent")
        assert set(resolve(bob.store.annotations()).values()) == {"conflict"}
        bob.decide(first, "absent")
        assert set(resolve(ann.store.annotations()).values()) == {"absent"}
        assert [session.undo() for session in (ann, bob, eve)] == [first] * 3
        assert ann.upcoming() == bob.upcoming() == [first]
        assert ann.undo() is None


@pytest.mark.parametrize("overlap", [False, True])
def test_reviewers_at_the_same_time_decide_each_entry_once_unless_they_overlap(tmp_path, overlap):
    options = {"n": 35, "l": 2, "overlap": overlap}
    with (
        serve(tmp_path / "store.sqlite", **options) as one,
        serve(tmp_path / "store.sqlite", reviewer="bob", **options) as two,
    ):
        states = {reviewer: ask(reviewer, "GET", "/api/entries") for reviewer in (one, two)}
        while any(state["entries"] for state in states.values()):
            for reviewer, state in states.items():
                if state["entries"]:
                    body = {"entry": state["entries"][0]["entry"], "answer": "present"}
                    states[reviewer] = ask(reviewer, "POST", "/api/annotation", body)
        places = [annotation.place for annotation in one.session.store.annotations()]
        assert (len(places), len(set(places))) == (140 if overlap else 70, 70)
        assert ask(one, "GET", "/api/entries")["waiting_for"] == []


def test_reviewers_in_threads_decide_each_entry_once(tmp_path):
    path, names = tmp_path / "store.sqlite", ("ann", "bob", "eve")

    def work(name):
        with AnnotationStore(path) as store:
            session = make_session(store, n=35, l=2, reviewer=name)
            while entries := session.show():
                session.decide(entries[0], "present")

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with AnnotationStore(path) as store:
        places = [annotation.place for annotation in store.annotations()]
    assert (len(places), len(set(places))) == (70, 70)


def test_the_last_entry_of_a_reviewer_who_has_left_is_shown_on_request(tmp_path):
    path = tmp_path / "store.sqlite"
    with serve(path, n=10, l=2) as one, serve(path, n=10, l=2, reviewer="bob") as two:
        first, second = one.session.queue.index[:2]
        left = ask(one, "GET", "/api/entries")["entries"][0]["entry"]  # a page that stays open
        state = ask(two, "GET", "/api/entries")
        assert (left, state["entries"][0]["entry"]) == (first, second)
        while state["entries"]:
            body = {"entry": state["entries"][0]["entry"], "answer": "present"}
            state = ask(two, "POST", "/api/annotation", body)
        assert state["waiting_for"] == ["ann"]
        assert [entry["entry"] for entry in ask(two, "POST", "/api/take", {})["entries"]] == [left]
        state = ask(two, "POST", "/api/annotation", {"entry": left, "answer": "absent"})
        assert (state["entries"], state["waiting_for"]) == ([], [])
        ask(two, "POST", "/api/undo", {})
        one.session.release()  # as at the end of the command
        assert ask(two, "GET", "/api/entries")["entries"][0]["entry"] == left


def test_parallel_requests_lose_nothing(server):
    entries = server.session.queue.index.tolist()

    def work(part):
        for entry in entries[part:80:4]:
            ask(server, "POST", "/api/annotation", {"entry": entry, "answer": "present"})

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.session.store.annotations()) == 80
    assert ask(server, "GET", "/api/entries")["entries"][0]["entry"] == entries[80]


def test_content_is_sent_as_json_only(tmp_path):
    with serve(tmp_path / "store.sqlite", names=[EVIL, "sad"], texts=[EVIL] * 50) as server:
        status, headers, content = send(server.port, "GET", "/api/entries", server.token)
        assert (status, headers["Content-Type"]) == (200, "application/json")
        assert EVIL in json.dumps(json.loads(content), ensure_ascii=False).replace('\\"', '"')


def test_a_port_in_use_is_an_error(server, tmp_path):
    with (
        AnnotationStore(tmp_path / "other.sqlite") as store,
        pytest.raises(ValueError, match=f"port {server.port} cannot be used: .*; pass another port, or 0 for a free"),
    ):
        ReviewServer(make_session(store), server.port)


def test_images_outside_of_the_folder_are_not_shown(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "in.png").write_bytes(b"picture")
    (tmp_path / "out.png").write_bytes(b"secret")
    (folder / "link.png").symlink_to(tmp_path / "out.png")
    (folder / "text.txt").write_text("secret")
    paths = ["in.png", "../out.png", str(tmp_path / "out.png"), "link.png", "text.txt", "gone.png", ""]
    samples = TableSamples(CsvTable("\n".join(["file,x", *(f"{p},1" for p in paths)])), [], "file", folder)
    assert [samples.image(i) for i in range(7)] == [folder / "in.png", *[None] * 6]


def test_an_image_that_cannot_be_read_is_named_and_all_other_samples_are_shown(tmp_path):
    (tmp_path / "in.png").write_bytes(b"picture")
    (tmp_path / "loop.png").symlink_to("loop.png")
    names = ["in.png", "loop.png", "x" * 300 + ".png", "nul\0.png", "\ud800.png", "gone.png", "../out.png", ""]
    lines = [json.dumps({"file": name, "x": i}) for i, name in enumerate(names)]
    samples = TableSamples(JsonTable("\n".join(lines)), [], "file", tmp_path)
    views = [samples.view(i) for i in range(len(names))]
    assert [view["image"] for view in views] == [True] + [False] * 7
    assert (views[0]["image_error"], views[-1]["image_error"]) == ("", "")
    for name, view in zip(names[1:-1], views[1:-1], strict=True):
        assert view["image_error"].startswith(f"image {name[:200]!r} cannot be read; it must be a file (.png, .jpg,")
    with serve(tmp_path / "store.sqlite", n=len(names)) as server:
        server.session.samples = samples
        for _ in names:
            body = {"entry": ask(server, "GET", "/api/entries")["entries"][0]["entry"], "answer": "present"}
            ask(server, "POST", "/api/annotation", body)
        found = [send(server.port, "GET", f"/api/image/{i}", server.token)[0] for i in range(len(names))]
        assert found == [200] + [404] * 7
        for entry in server.session.queue.index:
            assert server.session.describe(int(entry))["view"]["image_error"] in [view["image_error"] for view in views]


def test_the_order_follows_the_decisions(tmp_path):
    with AnnotationStore(tmp_path / "store.sqlite") as store:
        session = make_session(store)
        reversed_order = session.queue.priority.to_numpy()[::-1]
        *_, last_but_one, last = session.queue.index
        session.on_update(lambda outcomes: session.queue.assign(priority=reversed_order), every=3)
        for _ in range(3):
            session.decide(session.upcoming()[0], "present")
        session._thread.join(60)
        assert session.upcoming(2) == [last, last_but_one]
        session.decide(last, "absent")
        assert session.progress()["decided"] == 4
        assert session.undo() == last


def test_a_connection_that_the_browser_closes_prints_nothing(server, capfd):
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            # Closes with a reset, so that writing or reading in the server fails.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\nGET /".encode())
    ask(server, "GET", "/api/entries")
    for error, printed in ((ConnectionResetError("closed"), False), (RuntimeError("defect"), True)):
        try:
            raise error
        except Exception:
            server._server.handle_error(None, "127.0.0.1")
        assert (str(error) in capfd.readouterr().err) == printed
