"""Program that reads mutated files, or files of the corpus, in a process with limits on its memory.

Arguments: a folder, then either a seed, the first case and the step between cases, or paths of files. Before each case,
its file is written to the folder, so that it is left there if the process dies. Each problem is printed as a line.
"""

import signal
import sys
import time
import warnings
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import numpy as np

import spmld
from spmld.app.review import read_annotations
from spmld.datasets import read_dataset
from tests.fuzz.mutation import make_case

SECONDS, MEMORY = 60, 6 * 2**30


class TooLongError(BaseException):
    """Raised by the alarm; readers do not catch it."""


def _stop(*_):
    raise TooLongError


def problem(path):
    """Return what is wrong with how a file is read, or None if it is read or raises a documented error in time."""
    signal.alarm(SECONDS)
    try:
        return read_problem(path)
    except TooLongError:
        return f"longer than {SECONDS} s"
    finally:
        signal.alarm(0)


def read_problem(path):
    """Return what is wrong with how a file is read, or None if it is read or raises a documented error."""
    try:
        _read(path)
    except ValueError as error:
        return None if len(str(error)) <= 4000 else f"a message of {len(str(error))} characters"
    except TooLongError:
        raise
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


def _read(path):
    if path.suffix == ".skops":
        model = spmld.load(path)
        with suppress(Exception):  # a forged model may not predict, but it must not end the process
            model.predict_proba(np.zeros((2, model.n_features_in_)))
    elif ".annotations." in path.name:
        read_annotations(path)
    else:
        read_dataset(path, **({"tags": "tags"} if ".tags." in path.name else {}))


def limit_memory():
    """Limit the memory of this process, and write no core files."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main(folder, *args):
    """Run the cases; the last line of output is "done"."""
    limit_memory()
    signal.signal(signal.SIGALRM, _stop)
    warnings.simplefilter("ignore")
    if len(args) and not args[0].isdecimal():
        cases = ((i, Path(path).name, Path(path).read_bytes()) for i, path in enumerate(args))
    else:
        seed, start, stop, until = (int(arg) for arg in args)
        indices = takewhile(lambda _: time.time() < until, range(start, stop))
        cases = ((i, *make_case(seed, i)) for i in indices)
    for index, name, content in cases:
        file = Path(folder, f"{index}-{name}")
        file.write_bytes(content)
        print(f"case {index} {file.name}", flush=True)
        wrong = problem(file)
        if wrong:
            print(f"problem {file.name}: {wrong}", flush=True)
        else:
            file.unlink()
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
