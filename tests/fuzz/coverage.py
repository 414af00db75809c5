"""Coverage-guided fuzzing of the readers and the model loader: ``python -m tests.fuzz.coverage MINUTES [KIND ...]``.

The time is divided evenly between the kinds of files. Each kind is read in a process of its own, in which atheris keeps
mutated files that reach new lines and mutates them further. It needs ``pip install --group fuzz`` on Linux.
"""

import importlib
import random
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from subprocess import PIPE, STDOUT

from tests.fuzz.readers import CORPUS, ROOT

PACKAGES = ["spmld", "skops", "openpyxl"]
"""Packages whose lines are counted."""
MAX_BYTES, SECONDS, MEGABYTES = 60_000, 60, 3000


def _kind(name):
    """Return the kind of a file, such as "arff" or "tags.csv"."""
    return name.split(".", 1)[1]


class ReaderError(Exception):
    """A file was read in a wrong way."""


def fuzz(kind, folder, seconds):
    """Mutate the seeds of a kind in this process, until the time is over or a problem ends it."""
    import atheris

    with atheris.instrument_imports(include=PACKAGES):
        importlib.import_module("openpyxl")
        importlib.import_module("skops.io")
        from tests.fuzz.mutation import mutate_member, seeds
        from tests.fuzz.worker import limit_memory, read_problem

    warnings.simplefilter("ignore")
    for name, content in seeds().items():
        if _kind(name) == kind:
            Path(folder, name).write_bytes(content)
    file = Path(folder).with_name(f"{Path(folder).name}.{kind}")

    def read(content):
        file.write_bytes(content)
        if wrong := read_problem(file):
            raise ReaderError(wrong)

    def mutate(content, max_size, seed):
        def change(part):
            return atheris.Mutate(part, max_size)

        rng = random.Random(seed)
        if content[:2] == b"PK" and rng.random() < 0.95:
            try:
                changed = mutate_member(content, change, rng.randrange)
                return changed if len(changed) <= max_size else content
            except Exception:  # earlier mutations damaged the archive
                return change(content)
        return change(content)

    limit_memory()
    options = {"max_total_time": seconds, "timeout": SECONDS, "rss_limit_mb": MEGABYTES, "max_len": MAX_BYTES}
    options |= {"artifact_prefix": f"{folder}.", "verbosity": 1, "print_final_stats": 1}
    atheris.Setup([sys.argv[0], *(f"-{key}={value}" for key, value in options.items()), folder], read,
                  custom_mutator=mutate)  # fmt: skip
    atheris.Fuzz()


def run(kind, seconds):
    """Fuzz one kind in another process; return the number of files that were read, and the problems."""
    n_files, problems, end = 0, [], time.time() + seconds
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as base:
        folder = Path(base, "files")
        folder.mkdir()
        while (left := int(end - time.time())) > 0 and len(problems) < 3:
            arguments = [kind, str(folder), str(left)]
            program = [sys.executable, "-m", "tests.fuzz.coverage", "--one", *arguments]
            done = subprocess.run(program, cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True, errors="replace")
            lines = done.stdout.splitlines()
            n_files += sum(int(line.split()[1]) for line in lines if line.startswith("stat::number_of_executed_units"))
            if done.returncode == 0:
                break
            reason = next((line for line in lines if "ReaderError" in line or "ERROR" in line), (lines or [""])[-1])
            for artifact in Path(base).glob("files.*-*"):
                kept = CORPUS / f"{artifact.suffix.removeprefix('.')}.{kind}"
                kept.write_bytes(artifact.read_bytes())
                artifact.unlink()
                reason += f" ({kept.name})"
            problems.append(f"exit status {done.returncode}: {reason}")
    return n_files, problems


def main(minutes="30", *kinds):
    """Fuzz all kinds of files; problems set the exit status."""
    from tests.fuzz.mutation import seeds

    kinds = kinds or sorted({_kind(name) for name in seeds()})
    all_problems = []
    for kind in kinds:
        n_files, problems = run(kind, 60 * float(minutes) / len(kinds))
        print(f"{kind}: {n_files} files, {len(problems)} problems", *problems, sep="\n  ", flush=True)
        all_problems += problems
    return 1 if all_problems else 0


if __name__ == "__main__":
    sys.exit(fuzz(*sys.argv[2:]) if sys.argv[1:2] == ["--one"] else main(*sys.argv[1:]))
