"""A review in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys

from tests.review.cases import send


class RunningReview:
    """A running review and its page."""

    def __init__(self, folder, *args):
        command = [sys.executable, "-m", "spmld.cli", "review", *args, "--no-browser"]
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
        self.lines = []
        for line in self.process.stderr:
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
        self.process.send_signal(signal.SIGINT)
        self.lines += self.process.stderr.readlines()
        return self.process.wait(60)
