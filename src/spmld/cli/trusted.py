"""The option ``--trusted``: verified entries from a column of the data or from a file of their own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import reading
from spmld.datasets import Dataset, TableError, TableRoles, read_table
from spmld.datasets.frames import identifier_text
from spmld.datasets.roles import read_label_columns
from spmld.datasets.tables import TABLE_OPTIONS, table_format

ACCEPTED = "a column of DATA with 1 for each verified sample, or a file with 1 for each verified label"


def add_trusted(data: Dataset, path: str, trusted: str, reader_options: dict[str, Any]) -> Dataset:
    """Return the data with verified entries. A column that marks them is not a feature.

    Parameters
    ----------
    data : Dataset
        All samples of DATA.
    path : str
        DATA, for error messages.
    trusted : str
        Value of --trusted: the name of a column, or a file.
    reader_options : dict
        Options of the reader of DATA. The prefix of label columns and the encoding also apply to the file.
    """
    names = list(data.feature_names)
    if trusted in names:
        kept = [i for i, name in enumerate(names) if name != trusted]
        mask = _read_column(data.X[:, [names.index(trusted)]], trusted)
        return replace(data, X=data.X[:, kept], feature_names=[names[i] for i in kept], trusted=mask)
    if Path(trusted).is_file():
        return replace(data, trusted=_read_mask(trusted, data, path, reader_options))
    reason = "is a label" if trusted in data.label_names else "is neither a feature column nor a file"
    raise ValueError(f"--trusted must be {ACCEPTED}, got {trusted!r}, which {reason} of {path}")


def _read_column(column: Any, name: str) -> NDArray[np.bool_]:
    values = (column.toarray() if sp.issparse(column) else np.asarray(column))[:, 0]
    _check_values(values, f"column {name}")
    return values == 1


def _read_mask(file: str, data: Dataset, path: str, reader_options: dict[str, Any]) -> NDArray[np.bool_]:
    kind = table_format(file)
    if kind is not None:
        encoded = "encoding" in TABLE_OPTIONS[kind] and "encoding" in reader_options
        frame = read_table(file, format=kind, **({"encoding": reader_options["encoding"]} if encoded else {}))
        roles = TableRoles(**{name: value for name, value in reader_options.items() if name == "prefix"})
        labels = read_label_columns(frame, roles, list(data.label_names))
        if labels.problems:
            raise TableError(labels.problems, file)
        mask = _match_samples(file, frame, labels.Y, data)
    elif Path(file).suffix.lower() == ".npz":
        with reading(file, "a NumPy archive") as archive, np.load(archive, allow_pickle=False) as arrays:
            if "trusted" not in arrays:
                raise ValueError(f"the file has no array 'trusted'; it has {', '.join(sorted(arrays)) or 'none'}")
            mask = arrays["trusted"]
    else:
        raise ValueError(f"--trusted must be a .csv, .tsv, .parquet or .npz file, got {file}; convert it first")
    values = np.asarray(mask, dtype=float)
    _check_values(values, file)
    shapes = data.Y.shape, (len(data.Y),)
    if values.shape not in shapes:
        raise ValueError(
            f"--trusted {file} must have the shape of the labels of {path}, {shapes[0]}, got {values.shape}; "
            "write one row for each sample and one column for each label"
        )
    return values == 1


def _match_samples(file: str, frame: Any, mask: NDArray[np.float64], data: Dataset) -> NDArray[np.float64]:
    """Return the rows in the order of the samples, matched by the identifier if the file has its column.

    Samples that are not in the file are not verified.
    """
    id = None if data.roles is None else data.roles.id
    if id not in frame.columns or data.sample_names is None:
        return mask
    names, rows = list(map(identifier_text, frame[id])), list(map(identifier_text, data.sample_names))
    places = {name: i for i, name in enumerate(names)}
    if len(places) < len(names) or len(set(rows)) < len(rows):
        return mask
    if not places.keys() & set(rows):
        raise ValueError(f"--trusted {file} has no sample of the data: the values of {id!r} are {', '.join(names[:3])}")
    matched = np.zeros((len(rows), mask.shape[1]))
    for i, name in enumerate(rows):
        if name in places:
            matched[i] = mask[places[name]]
    return matched


def _check_values(values: NDArray[np.float64], where: str) -> None:
    wrong = values[~(np.isnan(values) | (values == 0) | (values == 1))]
    if wrong.size:
        raise ValueError(f"--trusted {where} must contain 1/0, true/false or yes/no, got {wrong[0]:g}; pass {ACCEPTED}")
