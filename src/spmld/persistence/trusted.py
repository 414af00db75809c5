"""Types that a model file may contain, in addition to those that skops trusts."""

import importlib

# The packages of models and their parts. They neither read files nor run commands.
_PACKAGES = (
    "spmld.core",
    "spmld.estimators",
    "spmld.labels",
    "spmld.model_selection",
    "spmld.pacing",
    "spmld.preprocessing",
    "spmld.studies.released",
)
# The sparse training samples of MLkNN, whose indices are checked after loading, and the data type of an imputer.
_OTHERS = ("scipy.sparse._csr.csr_array", "numpy.dtype")


def is_trusted(name: str) -> bool:
    """Return whether a full name is that of a class defined in the packages of models.

    Functions are not trusted, nor is anything that these packages import from elsewhere.

    Examples
    --------
    >>> from spmld.persistence.trusted import is_trusted
    >>> is_trusted("spmld.estimators.spmld.SPMLD"), is_trusted("spmld.labels.read_labels"), is_trusted("os.system")
    (True, False, False)
    """
    module, _, attribute = name.rpartition(".")
    if not any(module == package or module.startswith(f"{package}.") for package in _PACKAGES):
        return name in _OTHERS
    try:
        cls = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(cls, type) and cls.__module__ == module
