"""Fuzzing for some minutes: ``python -m tests.fuzz MINUTES [SEED]``."""

import random
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.estimators import fit_problem
from tests.fuzz.readers import CORPUS, fuzz_readers
from tests.fuzz.review import ReviewFuzzer

REQUESTS = 80


def main(minutes="10", seed=None):
    """Spend a third of the time on each of readers, reviews and estimators; problems set the exit status."""
    number = random.SystemRandom().randrange(2**31) if seed is None else int(seed)
    third = 20 * float(minutes)
    print(f"seed {number}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        n_files, problems = fuzz_readers(folder, number, 0, 10**9, until=time.time() + third)
        for problem in problems:
            name = problem.split(":")[0]
            print(problem, flush=True)
            (CORPUS / f"{number}-{name}").write_bytes(Path(folder, name).read_bytes())
    end = time.time() + third
    n_reviews = 0
    while time.time() < end:
        with tempfile.TemporaryDirectory() as folder:
            found = ReviewFuzzer(folder, number + n_reviews).run(REQUESTS)
        problems += found
        for problem in found:
            print(f"review {number + n_reviews}: {problem}", flush=True)
        n_reviews += 1
    end = time.time() + third
    n_fits = 0
    while time.time() < end:
        if problem := fit_problem(number, n_fits):
            problems.append(problem)
            print(f"fit {n_fits}: {problem}", flush=True)
        n_fits += 1
    counts = f"{n_files} files, {REQUESTS * n_reviews} requests to reviews, {n_fits} fits, {len(problems)} problems"
    print(f"{counts}; files that caused problems are in {CORPUS}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
