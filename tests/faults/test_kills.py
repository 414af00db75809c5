"""Each command is killed once; `make faults` kills each fifty times."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forked")
ROOT = Path(__file__).parents[2]


def test_killed_commands_lose_at_most_the_unit_of_work_that_was_running():
    """In another process, because forking a process with threads is not safe."""
    program = [sys.executable, "-W", "ignore", "-m", "tests.faults", "1", "0", "fit", "tune", "review"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["fit", "tune", "review"]
