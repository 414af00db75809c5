"""Kill commands at random moments: ``python -m tests.faults [KILLS] [SEED] [COMMAND ...]``."""

import sys
import time

from tests.faults.kills import NAMES, kill


def main(n_kills="50", seed="0", *names):
    for name in names or NAMES:
        begun = time.monotonic()
        print(kill(name, int(n_kills), int(seed)), f"({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
