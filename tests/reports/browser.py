"""Chromium without a window, spoken to through a pipe in its DevTools protocol."""

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

FOUND = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
needs_chromium = pytest.mark.skipif(FOUND is None, reason="needs Chromium, the Debian package chromium")
PATIENCE = 300  # seconds: machines may be busy


class Browser:
    """A page and all that has happened on it."""

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
            [FOUND, *(f"--{flag}" for flag in flags), f"--user-data-dir={folder}"],
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
        """Send a command, and give its answer; what happens in between is kept."""
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
            # A dialog would keep the page from answering for good.
            assert answer["method"] != "Page.javascriptDialogOpening", answer
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], PATIENCE)[0], "Chromium does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "Chromium has left"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1200, height=900, dark=False):
        """Open a file, in a window of this size and these colours."""
        self.events = []
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=path.as_uri())
        until = time.monotonic() + PATIENCE
        while self.value("document.readyState") != "complete" or self.value("location.href") != path.as_uri():
            assert time.monotonic() < until, f"{path} did not load"
            time.sleep(0.1)

    def value(self, expression):
        """What an expression in JavaScript gives."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key, text=None):
        """Press a key on the keyboard."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        info = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": codes.get(key, 0)}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **info, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", **info)

    def requests(self):
        """Addresses that were asked for."""
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent]

    def complaints(self):
        """Errors and warnings on the console, exceptions, and what the policy of the page has stopped."""
        told = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        return [event["params"] for event in self.events if event["method"] in told]

    def picture(self, path, whole=True):
        """A screenshot."""
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self._process.terminate()
        self._process.wait(60)
        os.close(self._to)
        os.close(self._from)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser for the tests of a file."""
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()
