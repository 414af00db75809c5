"""Pages with commands: run them as a user would, and compare what they print with the page.

``python -m tests.journeys.pages docs/tutorial_table.md`` runs the commands of a page again, and writes into the page
what they print. It also takes the pictures of reviews and reports, which requires Chromium. A block ``console`` has
commands after ``$``, each followed by its output; a line ``...`` stands for any lines. A block ``python`` runs in a
process of its own, in the same folder.
"""

import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path

from tests import commands

ROOT = Path(__file__).parents[2]
WIDTH = 80
TIMEOUT = 300  # seconds
_SHELL = 'spmld() { "$PYTHON" -m spmld.app.commands "$@"; }; python() { "$PYTHON" "$@"; }\n'
_FENCE = re.compile(r"^```(console|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True)
class Step:
    """A command or a Python block of a page, and what the page says that it prints."""

    command: str
    expected: str | None
    start: int
    end: int


def steps(text):
    """Return the steps of a page in their order.

    >>> [(step.command, step.expected) for step in steps("```console\\n$ ls\\na\\n$ pwd\\n```\\n")]
    [('ls', 'a'), ('pwd', '')]
    """
    found = []
    for block in _FENCE.finditer(text):
        if block[1] == "python":
            found.append(Step(block[2], None, *block.span(2)))
            continue
        start = block.start(2)
        commands = re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block[2], re.MULTILINE)
        found += [Step(part[1], part[2].rstrip("\n"), start + part.start(2), start + part.end()) for part in commands]
    return found


def run(step, folder, ready=None):
    """Run a step in a folder, on a terminal of 80 columns; return exit status and output.

    `ready` is called with the address of the page of `spmld review`, which is then stopped with Ctrl-C.
    """
    environment = {"PYTHON": sys.executable, "TERM": "dumb", "BROWSER": "true", "COLUMNS": "80"}
    environment |= {"SPMLD_CACHE": str(folder / "cache"), "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT / "src")}
    master, slave = pty.openpty()
    process, wait = _start(step, folder, environment, slave)
    closing = threading.Thread(target=lambda: (wait(), os.close(slave)))  # ends the reading
    closing.start()
    printed, stopped = b"", False
    with os.fdopen(master, "rb", buffering=0) as terminal:
        while part := _read(terminal):
            printed += part
            if b"Stop with Ctrl-C" in printed and not stopped:
                stopped, address = True, re.search(r"http://127[^#\s]+#\S+", printed.decode())[0]
                urllib.request.urlopen(address.partition("#")[0], timeout=TIMEOUT).close()  # it is served
                if ready is not None:
                    ready(address)
                os.kill(process.pid, signal.SIGINT)
    closing.join()
    return wait(), printed.decode().replace("\r\n", "\n").strip("\n")


def _start(step, folder, environment, terminal):
    """Start a step; return the process, and a function that waits for its exit status."""
    words = shlex.split(step.command.replace("\\\n", "")) if step.expected is not None else []
    if words and (words[0] != "spmld" or "|" in words):
        streams = {"stdin": subprocess.DEVNULL, "stdout": terminal, "stderr": terminal}
        call = ["bash", "-c", _SHELL + step.command]
        process = subprocess.Popen(call, cwd=folder, env=os.environ | environment, **streams)
        return process, process.wait
    function, args = (commands.spmld, words[1:]) if words else (commands.script, [step.command])
    name = os.ttyname(terminal)
    process = commands.start(function, *args, folder=folder, out=name, err=name, **environment)
    return process, lambda: process.join() or process.exitcode


def _read(terminal):
    try:
        return terminal.read(1 << 16)
    except OSError:  # all programs on the terminal have ended
        return b""


def agree(expected, printed):
    """Return whether an output is that of the page, apart from times, widths of columns and small changes of numbers.

    >>> agree("loss 0.251\\n...\\n2 s", "loss  0.252\\nmore\\n3 s"), agree("loss 0.251", "loss 0.351")
    (True, False)
    """
    pieces = [_tokens(piece) for piece in re.split(r"^\.\.\.$", expected, flags=re.MULTILINE)]
    tokens = _tokens(printed)
    for i, piece in enumerate(pieces):
        places = [0] if i == 0 else range(len(tokens) - len(piece) + 1)
        if i == len(pieces) - 1:
            places = [place for place in places if place == len(tokens) - len(piece)]
        place = next((place for place in places if _same(piece, tokens[place : place + len(piece)])), None)
        if place is None:
            return False
        tokens = tokens[place + len(piece) :]
    return True


def _tokens(text):
    text = re.sub(r"[\d.]+ s\b", "TIME", re.sub(r"http://127\.\S+", "ADDRESS", text))
    return re.sub("[\u2500-\u257f]", " ", text).split()


def _same(expected, printed):
    return len(expected) == len(printed) and all(map(_close, expected, printed))


def _close(expected, printed):
    if _NUMBER.sub("0", expected) != _NUMBER.sub("0", printed) or expected[:1].isalpha():
        return expected == printed
    pairs = zip(*([float(n.replace(",", "")) for n in _NUMBER.findall(t)] for t in (expected, printed)), strict=True)
    return all(abs(a - b) <= max(0.02, 0.1 * abs(a)) for a, b in pairs)


def failed(step, status, printed):
    """Return whether a step failed; a command may end with an error message that the page shows."""
    return status != 0 and not (step.expected is not None and printed.startswith("spmld: "))


def prepare(folder):
    """Copy the script that writes the files of the tutorials."""
    shutil.copy(ROOT / "docs" / "tutorial_files.py", folder)


def refresh(path):
    """Run the commands of a page, and write their output and pictures where they differ."""
    text, shift = path.read_text(encoding="utf-8"), 0
    with tempfile.TemporaryDirectory() as name:
        prepare(folder := Path(name))
        for step in steps(text):
            step = replace(step, start=step.start + shift, end=step.end + shift)
            picture = re.compile(r"!\[[^]]*\]\((_static/\S+)\)").search(text, step.end)
            status, printed = run(step, folder, lambda url, file=picture: take_picture(url, path.parent / file[1]))
            if failed(step, status, printed):
                raise RuntimeError(f"{step.command}\n{printed}")
            report = re.search(r"spmld report .*-o (\S+)", step.command)
            if report and picture:
                take_picture((folder / report[1]).as_uri(), path.parent / picture[1])
            if step.expected is None or agree(step.expected, printed):
                continue
            lines = [line.rstrip() for line in printed.splitlines()]
            new = "".join(f"{part}\n" for line in lines for part in _wrap(line))
            text = text[: step.start] + new + text[step.end :]
            shift += len(new) - (step.end - step.start)
            path.write_text(text, encoding="utf-8")


def _wrap(line):
    """Return the parts of a line, as a terminal shows it; lines of tables are not longer than the terminal."""
    return textwrap.wrap(line, WIDTH, break_on_hyphens=False, break_long_words=False) if len(line) > WIDTH else [line]


def take_picture(url, path):
    """Save a picture of a page in Chromium."""
    from tests.app.reports.browser import Browser
    from tests.app.review.test_page import Address, wait

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        browser.ask("Emulation.setScrollbarsHidden", hidden=True)
        browser.open(Address(url), width=1100, height=760)
        wait(browser, "!document.getElementById('entry')?.hidden")
        browser.picture(path, whole=False)
        browser.close()


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(argument).resolve())
