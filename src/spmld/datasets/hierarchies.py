"""Hierarchies of labels: in files, from labels that are paths, and of the labels of a data set."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import StrPath, reading
from spmld.datasets.dataset import Dataset
from spmld.labels import Hierarchy, read_labels
from spmld.labels.hierarchy import path_nodes
from spmld.labels.tags import TagCase, label_of_tags
from spmld.tables.csv_files import csv_blocks
from spmld.tables.errors import absent_columns
from spmld.tables.reading import read_table, table_format, with_clean_names


def read_hierarchy(path: StrPath) -> Hierarchy:
    r"""Read a hierarchy of labels from a file.

    Parameters
    ----------
    path : str or path-like
        Table with the columns parent and child, in any format of `read_table`, or a JSON file with the children of each
        parent, which may be nested. Rows without a parent or without a child are ignored.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.datasets import read_hierarchy
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("parent,child", "music,rock", "rock,metal", sep="\n", file=file, flush=True)
    ...     read_hierarchy(file.name).edges
    (('music', 'rock'), ('rock', 'metal'))
    """
    with reading(path, "a hierarchy of labels") as file:
        content = json.loads(file.read_text(encoding="utf-8")) if file.suffix.lower() == ".json" else None
        pairs = list(_nested_pairs(content) if isinstance(content, dict) else _table_pairs(file))
        if not pairs:
            raise ValueError("it has no pair of a parent and a child; write one in each row")
        return Hierarchy(pairs)


def _table_pairs(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the pairs (parent, child) of a table."""
    kind = table_format(file) or "csv"
    # Names such as 01.10 are not numbers.
    frame = with_clean_names(next(csv_blocks(file, dtype=str))) if kind == "csv" else read_table(file)
    frame = frame.rename(columns=str.lower)
    expected = ("parent", "child")
    if absent := [name for name in expected if name not in frame.columns]:
        text = absent_columns(absent, frame.columns, expected=expected).text
        raise ValueError(f'{text}; rename the columns, or write a JSON object such as {{"rock": ["metal", "punk"]}}')
    for parent, child in frame[["parent", "child"]].dropna().to_numpy():
        yield str(parent).strip(), str(child).strip()


def _nested_pairs(children: Any, parent: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield the pairs (parent, child) of a JSON object."""
    names = [children] if isinstance(children, str) else children
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"labels must be text, got {name!r}; write the children as a list of text, or as an object"
            )
        if parent is not None:
            yield parent, name
        yield from _nested_pairs(children[name], name) if isinstance(children, dict) else ()


def path_hierarchy(names: Sequence[str], sep: str, tag_case: TagCase = "merge") -> Hierarchy:
    """Return the hierarchy of labels that are paths; ancestors that are not among the names are left out.

    Examples
    --------
    >>> from spmld.datasets.hierarchies import path_hierarchy
    >>> path_hierarchy(["Rock", "rock/metal", "mood/sad"], "/").edges
    (('Rock', 'rock/metal'),)
    """
    paths = {name: path_nodes(name, sep)[:-1] for name in names}
    label = label_of_tags(Counter(node for path in paths.values() for node in path), names, tag_case)
    pairs: list[tuple[str, str]] = []
    for name, path in paths.items():
        above = [label[node] for node in path if label[node] in paths]
        pairs += pairwise([*above, name])
    return Hierarchy(pairs)


def with_hierarchy(data: Dataset, hierarchy: Hierarchy) -> Dataset:
    """Return a data set with a hierarchy of its labels, whose names may differ in case or width, as tags do.

    Of a column of tags, labels of the hierarchy that are no tags but have tags below them are added: they are positive
    if such a tag is. Other unknown labels raise ValueError.

    Examples
    --------
    >>> from spmld.datasets import Dataset
    >>> from spmld.tables import TableRoles
    >>> from spmld.datasets.hierarchies import with_hierarchy
    >>> from spmld.labels import Hierarchy
    >>> data = Dataset([[0], [1]], [[1, 0], [0, 0]], label_names=["metal", "sad"], roles=TableRoles(tags="tags"))
    >>> data = with_hierarchy(data, Hierarchy({"rock": ["Metal"]}))
    >>> data.label_names, data.Y.tolist()
    (['metal', 'sad', 'rock'], [[1, 0, 1], [0, 0, 0]])
    """
    names = list(data.label_names)
    tagged = data.roles is not None and data.roles.tags is not None
    label = label_of_tags(Counter(hierarchy.names), names, data.roles.tag_case if tagged else "merge")
    hierarchy = Hierarchy([(label[parent], label[child]) for parent, child in hierarchy.edges])
    others = [name for name in hierarchy.names if name not in names] if tagged else []
    above = hierarchy.ancestors([*names, *others])[: len(names), len(names) :]
    added = [name for name, has_tags in zip(others, above.T, strict=True) if has_tags.any()]
    if added and data.answers is not None:
        raise ValueError(
            f"{', '.join(map(repr, added))} must be tags to be used with several annotators; add them to the tags, or "
            "leave them out of the hierarchy"
        )
    below = hierarchy.ancestors([*names, *added])[: len(names), len(names) :]  # the others are unknown labels
    Y = np.column_stack([data.Y, *(np.fmax.reduce(data.Y[:, labels], axis=1) for labels in below.T)])
    trusted = None if data.trusted is None else np.pad(data.trusted, ((0, 0), (0, len(added))))
    return replace(data, Y=Y, label_names=[*names, *added], trusted=trusted, hierarchy=hierarchy)


def resolve_contradictions(
    hierarchy: Hierarchy, Y: Any, names: Sequence[str], samples: Any = None
) -> NDArray[np.float64]:
    """Return labels as 0 and 1 in which no observed label contradicts a hierarchy, see `Hierarchy.infer`.

    Missing labels stay missing.

    Examples
    --------
    >>> from spmld.datasets.hierarchies import resolve_contradictions
    >>> from spmld.labels import Hierarchy
    >>> resolve_contradictions(Hierarchy({"rock": ["metal"]}), [[0, None], [None, 1]], ["rock", "metal"])
    array([[ 0., nan],
           [nan,  1.]])
    """
    labels = replace(read_labels(Y, classes=[0, 1]), names=list(names))
    inferred = hierarchy.infer_labels(labels, samples)
    return np.where(labels.observed, inferred.signs > 0, np.nan)
