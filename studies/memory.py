"""Peak memory of this process."""

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def reset_peak_memory() -> None:
    """Reset the peak to the current memory, where the system supports it (Linux)."""
    try:
        _RESET.write_text("5")
    except OSError:
        return


def peak_memory() -> float | None:
    """Return the peak resident memory of this process since the last reset, in MiB.

    It includes the interpreter, libraries and data. Without Linux's /proc it is the peak since the process started;
    None if that is unknown, too. Tracing allocations instead would slow fits down by up to a third.

    Examples
    --------
    >>> from studies.memory import peak_memory
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
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
