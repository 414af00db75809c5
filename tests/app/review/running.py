"""A review in a process of its own."""

import json
import os
import re
import signal
import tempfile
from pathlib import Path

from tests.app.review.cases import send
from tests.commands import spmld, start


class RunningReview:
    """A running review and its page."""

    def __init__(self, folder, *args):
        with tempfile.TemporaryDirectory() as name:
            messages = Path(name, "messages")
            os.mkfifo(messages)
            command = ["review", *args, "--no-browser"]
            self.process = start(spmld, *command, folder=folder, out=os.devnull, err=messages)
            self.messages = messages.open(encoding="utf-8")
        self.lines = []
        for line in self.messages:
            self.lines.append(line)
            if match := re.match(r"Open http://127\.0\.0\.1:(\d+)/#(\S+)", line):
                self.port, self.token = int(match[1]), match[2]
                return
        raise AssertionError("".join(self.lines))

    def ask(self, method="GET", path="/api/entries", body=None):
        status, _, content = send(self.port, method, path, self.token, body)
        assert status == 200, content
        return json.loads(content)

    def stop(self):
        os.kill(self.process.pid, signal.SIGINT)
        return self._end()

    def kill(self):
        self.process.kill()
        return self._end()

    def _end(self):
        with self.messages:
            self.lines += self.messages.readlines()
        self.process.join(60)
        return self.process.exitcode
