"""ReviewServer: a page on 127.0.0.1 with the standard library, for the browser of the same computer."""

import json
import secrets
import sys
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from spmld.app.review.session import ReviewSession
from spmld.app.review.table_samples import IMAGE_TYPES

ADDRESS = "127.0.0.1"
_PAGES = {
    "/": ("spmld.app.review", "page.html", "text/html; charset=utf-8"),
    "/colors.css": ("spmld.app.reports", "colors.css", "text/css; charset=utf-8"),
    "/page.css": ("spmld.app.review", "page.css", "text/css; charset=utf-8"),
    "/page.js": ("spmld.app.review", "page.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MAX_BODY = 10_000  # bytes


class RequestError(Exception):
    """Request that is rejected with a status and a message."""

    def __init__(self, status: HTTPStatus, message: str):
        super().__init__(message)
        self.status = status


class ReviewServer:
    r"""Server of the review page, bound to 127.0.0.1.

    Each request needs the address of the server in the headers Host and, if present, Origin. Requests for data also
    need the random token of `url` in the header X-Review-Token, which pages of other origins cannot send.

    Parameters
    ----------
    session : ReviewSession
        The review.
    port : int, default=0
        Port; 0 selects a free one.

    Attributes
    ----------
    url : str
        Address of the page with the token.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.app.review import AnnotationStore, ReviewServer, ReviewSession, make_queue
    >>> from spmld.app.review.table_samples import TableSamples
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> X, Y = np.eye(2).repeat(50, axis=0), np.arange(100)[:, None] < 50
    >>> queue = make_queue(find_label_issues(None, X, Y, random_state=0), min_priority=0.0)
    >>> samples = TableSamples(CsvTable("\n".join(["words", *["The rain", "The sun"] * 50])), [])
    >>> with tempfile.TemporaryDirectory() as folder, AnnotationStore(folder + "/review.sqlite") as store:
    ...     server = ReviewServer(ReviewSession(queue, store, samples))
    ...     server.url.startswith("http://127.0.0.1:")
    ...     server.close()
    True
    """

    def __init__(self, session: ReviewSession, port: int = 0):
        self.session = session
        self.token = secrets.token_urlsafe(24)
        handler = type("_SessionHandler", (_Handler,), {"review": self})
        try:
            self._server = _Server((ADDRESS, port), handler)
        except (OSError, OverflowError) as error:
            raise ValueError(f"port {port} cannot be used: {error}; pass another port, or 0 for a free one") from error
        self.port = self._server.server_address[1]
        self.hosts = tuple(f"{host}:{self.port}" for host in (ADDRESS, "localhost"))
        self.url = f"http://{ADDRESS}:{self.port}/#{self.token}"

    def serve_forever(self) -> None:
        """Answer requests until `close` is called in another thread, or until an exception such as Ctrl-C."""
        self._server.serve_forever(poll_interval=0.1)

    def shutdown(self) -> None:
        """Stop `serve_forever`, which runs in another thread."""
        self._server.shutdown()

    def close(self) -> None:
        """Close the socket."""
        self._server.server_close()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any] | tuple[str, bytes]:
        """Return the response to a request for data: an object for JSON, or media type and bytes."""
        session = self.session
        if (method, path) == ("GET", "/api/entries"):
            return self._state()
        if (method, path) == ("POST", "/api/annotation"):
            session.decide(body.get("entry", ""), body.get("answer", ""))
            return self._state()
        if (method, path) == ("POST", "/api/undo"):
            return self._state(session.undo())
        if (method, path) == ("POST", "/api/take"):
            return self._state(taken=True)
        if method == "GET" and path.startswith("/api/image/"):
            return self._image(path.removeprefix("/api/image/"))
        raise RequestError(HTTPStatus.NOT_FOUND, f"{path} does not exist")

    def _state(self, first: int | None = None, *, taken: bool = False) -> dict[str, Any]:
        """Return the progress, the current entry and the one after it, which the page prefetches.

        If there are none, the others who see the last entries are named.
        """
        upcoming = self.session.show(first, taken=taken)
        return {
            "title": self.session.title,
            "reviewer": self.session.reviewer,
            "progress": self.session.progress(),
            "entries": [self.session.describe(entry) for entry in upcoming],
            "waiting_for": [] if upcoming else self.session.waiting_for(),
        }

    def _image(self, sample: str) -> tuple[str, bytes]:
        samples = self.session.samples
        file = samples.image(int(sample)) if sample.isdecimal() and int(sample) < len(samples.keys) else None
        if file is None:
            raise RequestError(HTTPStatus.NOT_FOUND, f"sample {sample[:20]} has no image")
        try:
            return IMAGE_TYPES[file.suffix.lower()], file.read_bytes()
        except OSError as error:
            raise RequestError(HTTPStatus.NOT_FOUND, f"image {file.name!r} cannot be read: {error.strerror}") from error


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing if the browser has closed the connection, as when a tab is closed while it loads."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """HTTP requests of one connection."""

    review: ReviewServer
    protocol_version = "HTTP/1.1"
    timeout = 60
    server_version = "spmld"
    sys_version = ""

    def do_GET(self) -> None:
        """Respond with a page or with data."""
        status = HTTPStatus.OK
        try:
            self._check_origin()
            path = urlsplit(self.path).path
            kind, content = self._page(path) or self._data(path)
        except (RequestError, ValueError, OSError) as error:
            failed = HTTPStatus.INSUFFICIENT_STORAGE if isinstance(error, OSError) else HTTPStatus.BAD_REQUEST
            failed = HTTPStatus.SERVICE_UNAVAILABLE if isinstance(error, TimeoutError) else failed
            status = getattr(error, "status", failed)
            kind, content = _to_json({"error": str(error)})
            self.close_connection = True  # the body may not have been read
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def _check_origin(self) -> None:
        """Reject requests under another name, as after DNS rebinding, and requests of pages of other origins."""
        host = self.headers.get("Host", "")
        origin = self.headers.get("Origin")
        other_site = self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin")
        if host not in self.review.hosts or origin not in (None, f"http://{host}") or other_site:
            raise RequestError(HTTPStatus.FORBIDDEN, "requests must come from the page at the address of this server")

    def _page(self, path: str) -> tuple[str, bytes] | None:
        if path == "/favicon.ico":
            return "image/x-icon", b""
        if self.command != "GET" or path not in _PAGES:
            return None
        package, name, kind = _PAGES[path]
        return kind, (files(package) / "templates" / name).read_bytes()

    def _data(self, path: str) -> tuple[str, bytes]:
        token = self.headers.get("X-Review-Token", "")
        if not compare_digest(token.encode("utf-8", "replace"), self.review.token.encode()):
            raise RequestError(HTTPStatus.FORBIDDEN, "the token is wrong; open the address that spmld review printed")
        answer = self.review.answer(self.command, path, self._body())
        return answer if isinstance(answer, tuple) else _to_json(answer)

    def _body(self) -> dict[str, Any]:
        if self.command == "GET":
            return {}
        length = self.headers.get("Content-Length", "")
        too_long = not length.isdecimal() or int(length) > _MAX_BODY
        if too_long or self.headers.get_content_type() != "application/json":
            raise ValueError(f"the body must be application/json with at most {_MAX_BODY} bytes")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except RecursionError:
            raise ValueError("the body is nested too deeply") from None
        if not isinstance(body, dict):
            raise ValueError(f"the body must be a JSON object, got {type(body).__name__}")
        return body


def _to_json(content: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(content, allow_nan=False).encode()
