"""Data frames of any library: tables are read through narwhals, and labels are given back as what came in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import need

DataFrame = Any
"""A DataFrame of pandas."""
Series = Any
"""A Series of pandas."""


def is_frame(values: Any) -> bool:
    """Return whether values are a data frame or series of pandas or polars.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld._frames import is_frame
    >>> is_frame(pd.Series([1])), is_frame([1])
    (True, False)
    """
    return hasattr(values, "iloc") or type(values).__module__.partition(".")[0] == "polars"


def to_pandas(frame: Any, name: str = "X") -> DataFrame:
    """Return a table as a DataFrame of pandas; one of pandas is returned unchanged.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from spmld._frames import to_pandas
    >>> to_pandas(pa.table({"tempo": [60, None]}))
       tempo
    0   60.0
    1    NaN
    """
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):
        return frame
    narwhals = need("narwhals")
    try:
        return narwhals.from_native(frame, eager_only=True).to_pandas()
    except TypeError:
        lazy = hasattr(frame, "collect")
        raise ValueError(
            f"{name} must be a DataFrame of pandas, polars or another library, got {type(frame).__name__}; "
            + (f"call {name}.collect() first" if lazy else f"use pandas.DataFrame({name}, columns=...)")
        ) from None


def frame_like(template: Any, values: NDArray[Any]) -> Any:
    """Return values as a data frame or series like the template; unchanged if the template is neither.

    NaN is null in polars.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from spmld._frames import frame_like
    >>> frame_like(pd.DataFrame({"sad": [1, None]}, index=["a", "b"]), np.array([[1], [0]]))
       sad
    a    1
    b    0
    """
    if not is_frame(template):
        return values
    if hasattr(template, "iloc"):
        names = {"columns": template.columns} if values.ndim == 2 else {"name": template.name}
        return type(template)(values, index=template.index, **names)
    if values.ndim == 1:
        return type(template)(template.name, values, nan_to_null=True)
    return type(template)(dict(zip(template.columns, np.transpose(values), strict=True)), nan_to_null=True)
