"""Headless Chromium, controlled by its DevTools protocol through a pipe."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from itertools import count

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, the Debian package chromium")
TIMEOUT = 300  # seconds


class Browser:
    """Browser with one page and its events."""

    def __init__(self, folder):
        # Chromium reads from its file 3 and writes to its file 4.
        read, self._to = os.pipe()
        self._from, write = os.pipe()
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]

        def connect():
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        flags = ["headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run", "disable-sync"]
        flags += ["disable-background-networking", "disable-component-update", "remote-debugging-pipe"]
        self._process = subprocess.Popen(
            [CHROMIUM, *(f"--{flag}" for flag in flags), f"--user-data-dir={folder}"],
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (read, write, *theirs):
            os.close(end)
        self._numbers, self._rest, self._session, self.events = count(1), b"", None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        """Send a command and return its result; events in between are stored."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            # A dialog would block the page.
            assert answer["method"] != "Page.javascriptDialogOpening", answer
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], TIMEOUT)[0], "Chromium does not respond"
            part = os.read(self._from, 1 << 20)
            assert part, "Chromium has exited"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1200, height=900, dark=False):
        """Open a file in a window of a given size and color scheme."""
        self.events = []
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=path.as_uri())
        until = time.monotonic() + TIMEOUT
        while self.value("document.readyState") != "complete" or self.value("location.href") != path.as_uri():
            assert time.monotonic() < until, f"{path} did not load"
            time.sleep(0.1)

    def value(self, expression):
        """Return the value of a JavaScript expression."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key, text=None):
        """Press a key."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        info = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": codes.get(key, 0)}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **info, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", **info)

    def requests(self):
        """Return the requested URLs."""
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def errors(self):
        """Return console messages, exceptions and violations of the content security policy."""
        methods = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        return [event["params"] for event in self.events if event["method"] in methods]

    def picture(self, path, whole=True):
        """Save a screenshot."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self._process.terminate()
        self._process.wait(60)
        os.close(self._to)
        os.close(self._from)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Browser for the tests of a module."""
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()
