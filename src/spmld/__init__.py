"""Multi-label learning when labels are missing or wrong."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spmld.estimators import GLOCAL, SPMLD

__all__ = ["GLOCAL", "SPMLD", "__version__"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The estimators, imported when they are first asked for, so that the command line answers at once."""
    if name in ("GLOCAL", "SPMLD"):
        import spmld.estimators

        return getattr(spmld.estimators, name)
    raise AttributeError(f"module 'spmld' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
