"""Every benchmark runs with tiny sizes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = {"__init__", "__main__", "peers", "ratios", "sizes"}


def test_every_benchmark_runs_and_keeps_the_stored_results():
    stored = [ROOT / "benchmarks/ratios.json", ROOT / "docs/_static/review.svg", ROOT / "studies/docs/growth.svg"]
    before = [path.read_bytes() for path in stored]
    command = [sys.executable, "-m", "benchmarks", "--smoke", "--store"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    run = {line.removeprefix("== ") for line in done.stdout.splitlines() if line.startswith("== ")}
    assert run == {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - TOOLS
    assert [path.read_bytes() for path in stored] == before
