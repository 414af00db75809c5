"""Mutation testing: change random expressions of the source one at a time, and count how many the tests notice.

``python -m tests.mutation 120 --seed 0 --out mutants.jsonl`` changes 120 expressions. For each it runs the tests of the
package that execute the changed line, until one fails. A mutant is killed if a test fails or the tests exceed a limit
of CPU time; otherwise it survives.
"""

import argparse
import json
import random
from dataclasses import asdict
from pathlib import Path

from tests.mutation.changes import ROOT, mutants
from tests.mutation.runner import Runner, interval, temporary_copy

PACKAGES = ("core", "labels", "metrics", "model_selection", "pacing", "persistence")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--table", type=Path, help="file for the lines that each test executes; used if it exists")
    options = parser.parse_args()
    files = [
        path.relative_to(ROOT) for name in options.packages for path in sorted((ROOT / "src/spmld" / name).glob("*.py"))
    ]
    everything = [mutant for file in files for mutant in mutants(file)]
    chosen = random.Random(options.seed).sample(everything, min(options.number, len(everything)))
    outcomes = []
    with temporary_copy() as name, options.out.open("a") as out:

        def report(mutant, outcome, seconds):
            outcomes.append(outcome)
            old, new = (" ".join(text.split()) for text in (mutant.old, mutant.new))
            print(f"{outcome:9}{mutant.file}:{mutant.line}: {old} -> {new} ({seconds:.1f} s)", flush=True)
            out.write(json.dumps({"seed": options.seed, **asdict(mutant), "outcome": outcome}) + "\n")
            out.flush()

        table = (options.table or Path(name) / "table.json").resolve()
        Runner(Path(name).resolve(), options.packages, chosen, report, table).run()
    killed = len(outcomes) - outcomes.count("survived")
    low, high = interval(killed, len(outcomes))
    print(f"{killed} of {len(outcomes)} mutants killed, of {len(everything)}: {killed / len(outcomes):.1%}")
    print(f"95 % confidence interval: {low:.1%} to {high:.1%}")


if __name__ == "__main__":
    main()
