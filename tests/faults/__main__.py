"""Kill commands at random moments, and write to full and read-only disks: ``python -m tests.faults [KILLS] [SEED]``."""

import subprocess
import sys
import tempfile
import time

from tests.faults.disks import small_disk
from tests.faults.kills import NAMES, kill
from tests.faults.writers import WRITERS


def main(n_kills="50", seed="0", *names):
    """Kill all or some commands; without names, also test the disks."""
    for name in names or NAMES:
        begun = time.monotonic()
        print(kill(name, int(n_kills), int(seed)), f"({time.monotonic() - begun:.0f} s)", flush=True)
    if not names:
        _write("full", "read-only")
        try:
            _write("small disk")
        except PermissionError as error:
            print(f"small disk: not tested, {error}")


def _write(*faults):
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "tests.faults.writers", folder, *faults]
        if faults == ("small disk",):
            with small_disk(folder, 4000):
                subprocess.run(program, check=True, capture_output=True)
        else:
            subprocess.run(program, check=True, capture_output=True)
    for fault in faults:
        print(f"{fault}: {len(WRITERS)} kinds of files, each with an error that names it, none changed")


if __name__ == "__main__":
    main(*sys.argv[1:])
