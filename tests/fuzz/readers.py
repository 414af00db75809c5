"""Running the worker, and starting it again after a case that ended it."""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).with_name("corpus")


def _run(folder, *args):
    program = [sys.executable, "-m", "tests.fuzz.worker", str(folder), *map(str, args)]
    process = subprocess.run(program, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    lines = process.stdout.splitlines()
    problems = [line.removeprefix("problem ") for line in lines if line.startswith("problem ")]
    last = next((line for line in reversed(lines) if line.startswith("case ")), "case -1 none")
    _, index, name = last.split(" ", 2)
    if process.returncode or "done" not in lines:
        problems.append(f"{name}: the process ended with status {process.returncode}")
        return problems, int(index) + 1, False
    return problems, int(index) + 1, True


def fuzz_readers(folder, seed, start, stop, until=2**40):
    """Read mutated files; return their number and the problems.

    Each problem starts with the name of a file that is left in the folder.
    """
    problems, ended, first = [], False, start
    while not ended and start < stop and time.time() < until:
        more, start, ended = _run(folder, seed, start, stop, int(until))
        problems += more
    return start - first, problems


def replay_corpus(folder):
    """Read the files of the corpus; return the problems."""
    return _run(folder, *sorted(path for path in CORPUS.iterdir() if path.suffix != ".md"))[0]
