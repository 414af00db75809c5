"""Peak memory of a piece of work."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["peak_memory", "reset_peak_memory"]

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def reset_peak_memory() -> None:
    """Let the process's peak start again from what it holds now, where the system can do so (Linux)."""
    try:
        _RESET.write_text("5")
    except OSError:
        return


def peak_memory() -> float | None:
    """Most resident memory of this process since the last reset, in MiB.

    It is that of the whole process: interpreter, libraries and data included. Asking the system costs nothing, where
    tracing allocations slows fits by up to a third. Without Linux's /proc it is the peak since the process
    started, so that a small trial after a large one shows the large one's; None where that is not known either.

    Examples
    --------
    >>> from spmld.studies.memory import peak_memory
    >>> peak_memory() > 1
    True
    """
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
