"""Types of the values of records, which are checked when a file is read."""

from typing import Any

_NUMBER = (int, float)
_OPTIONAL = (int, float, type(None))
_REQUIRED: dict[str, dict[str, Any]] = {
    "study": {"name": str, "study": dict},
    "data": {"name": str},
    "trial": {"key": str, "trial": dict, "status": str, "metrics": dict},
}
_TRIAL: dict[str, Any] = {
    **dict.fromkeys(("kind", "data", "method", "estimator"), str),
    **dict.fromkeys(("params", "corruption"), dict),
    "observed": _NUMBER,
    "seed": int,
}
_OTHERS: dict[str, Any] = {
    **dict.fromkeys(("samples", "features", "labels", "cardinality", "empty"), _NUMBER),
    **dict.fromkeys(("seconds", "cpu_seconds", "peak_mib"), _OPTIONAL),
    "error": (str, type(None)),
    "warnings": list,
}


def record_problem(record: Any) -> str | None:
    """Return what is wrong with a record, or None.

    Examples
    --------
    >>> from studies.record_types import record_problem
    >>> record_problem({"kind": "data", "name": "tiny"}), record_problem({"kind": "data", "name": 3})
    (None, "'name' must be str, got 3")
    """
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _REQUIRED:
        return "its kind is unknown"
    others = {name: types for name, types in _OTHERS.items() if name in record}
    problem = _wrong_type(record, {**_REQUIRED[kind], **others})
    if problem or kind != "trial":
        return problem
    metrics = record["metrics"]
    return _wrong_type(record["trial"], _TRIAL) or _wrong_type(metrics, dict.fromkeys(metrics, _OPTIONAL))


def _wrong_type(values: dict[str, Any], types: dict[str, Any]) -> str | None:
    for name, accepted in types.items():
        if name not in values:
            return f"{name!r} is missing"
        if not isinstance(values[name], accepted):
            names = [item.__name__ for item in (accepted if isinstance(accepted, tuple) else (accepted,))]
            return f"{name!r} must be {' or '.join(names)}, got {repr(values[name])[:80]}"
    return None
