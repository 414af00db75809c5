"""Ratios of a run: the time of spmld divided by that of a competitor in the same run, compared with stored ratios.

``python -m benchmarks --store`` writes the ratios of a run to ``benchmarks/ratios.json``. Later runs print both. Ratios
depend less on the machine than times do.
"""

import json
import time
from pathlib import Path

from benchmarks.sizes import sized

STORED = Path(__file__).with_name("ratios.json")
SLOWER = 1.5
"""Factor by which a ratio must exceed the stored one to be named slower."""

recorded: dict[str, float] = {}


def fastest_time(function, repeats=sized(3, 1), clock=time.perf_counter):
    """Return the minimum time of a few calls."""
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def record(name, seconds, other_seconds):
    """Record and return the ratio of the times of spmld and of a competitor."""
    recorded[name] = seconds / other_seconds
    return recorded[name]


def compare():
    """Print the recorded ratios next to the stored ones."""
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    print(f"\n{'time of spmld / time of the competitor':<72}{'now':>8}{'stored':>8}")
    for name, ratio in recorded.items():
        before = stored.get(name)
        note = " slower" if before is not None and ratio > SLOWER * before else ""
        print(f"{name:<72}{ratio:8.2f}{'' if before is None else f'{before:.2f}':>8}{note}")


def store():
    """Write the recorded ratios; those of other benchmarks are kept."""
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    values = {name: round(ratio, 3) for name, ratio in recorded.items()}
    STORED.write_text(json.dumps(stored | values, indent=1, sort_keys=True) + "\n")
