"""Fuzzing for some minutes: ``python -m tests.fuzz MINUTES [SEED]``."""

import random
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.estimators import fit_problem
from tests.fuzz.readers import CORPUS, fuzz_readers


def main(minutes="10", seed=None):
    """Spend half of the time on readers and half on estimators; problems set the exit status."""
    number = random.SystemRandom().randrange(2**31) if seed is None else int(seed)
    half = 30 * float(minutes)
    print(f"seed {number}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        n_files, problems = fuzz_readers(folder, number, 0, 10**9, until=time.time() + half)
        for problem in problems:
            name = problem.split(":")[0]
            print(problem, flush=True)
            (CORPUS / f"{number}-{name}").write_bytes(Path(folder, name).read_bytes())
    end, index = time.time() + half, 0
    while time.time() < end:
        if problem := fit_problem(number, index):
            problems.append(problem)
            print(f"fit {index}: {problem}", flush=True)
        index += 1
    print(f"{n_files} files, {index} fits, {len(problems)} problems; files that caused problems are in {CORPUS}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
