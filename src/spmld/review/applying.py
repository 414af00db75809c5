"""Writing decisions back into the reviewed file, and the trusted entries."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.labels.words import to_number
from spmld.review.decisions import Decision, add_keys, resolve
from spmld.review.samples import TableSamples
from spmld.review.table_file import ParquetTable, TableFile

_WORDS = {1: "1", 0: "0"}
_VALUES = {"present": 1, "absent": 0}


@dataclass(frozen=True, eq=False)
class Applied:
    """Result of `apply_decisions`.

    Attributes
    ----------
    content : bytes
        Content of the new file.
    trusted : ndarray of bool of shape (n_samples, n_labels)
        Entries that reviewers have decided.
    changed, confirmed, added, unsure, conflicts, unmatched : int
        Number of observed labels that were changed and confirmed, of missing labels that were added, of entries that
        were left as they are because reviewers are unsure or disagree, and of entries that are not in the file.

    Examples
    --------
    See `apply_decisions`.
    """

    content: bytes
    trusted: NDArray[np.bool_]
    changed: int
    confirmed: int
    added: int
    unsure: int
    conflicts: int
    unmatched: int


def label_columns(columns: Sequence[str], label_names: Iterable[str], prefix: str = "label_") -> dict[str, str]:
    """Return the column of each label, whose name may have a prefix.

    Examples
    --------
    >>> from spmld.review import label_columns
    >>> label_columns(["pitch", "label_sad", "calm"], ["sad", "calm"])
    {'sad': 'label_sad', 'calm': 'calm'}
    """
    chosen = {name: next((c for c in (prefix + name, name) if c in columns), None) for name in label_names}
    absent = [name for name, column in chosen.items() if column is None]
    if absent:
        raise ValueError(f"the table has no column for the label {absent[0]!r}; its columns: {', '.join(columns[:10])}")
    return {name: str(column) for name, column in chosen.items()}


def apply_decisions(
    table: TableFile | ParquetTable, decisions: Iterable[Decision], columns: Mapping[str, str]
) -> Applied:
    r"""Write decisions into a table, whose other fields do not change.

    Labels are written in the form that their column uses, such as 1 and 0, or yes and no.

    Parameters
    ----------
    table : TableFile or ParquetTable
        Table.
    decisions : iterable of Decision
        Decisions of one or several reviewers, see `resolve`.
    columns : mapping
        Column of each label, see `label_columns`.

    Returns
    -------
    Applied

    Examples
    --------
    >>> from spmld.review import Decision, TableFile, apply_decisions
    >>> table = TableFile("words,label_sad,label_calm\nThe rain,no,\nThe sun,yes,no\n")
    >>> decisions = [Decision("", "sad", "present", sample=0), Decision("", "calm", "absent", sample=0)]
    >>> applied = apply_decisions(table, decisions, {"sad": "label_sad", "calm": "label_calm"})
    >>> print(applied.content.decode(), end="")
    words,label_sad,label_calm
    The rain,yes,no
    The sun,yes,no
    >>> applied.changed, applied.added, applied.trusted[0]
    (1, 1, array([ True,  True]))
    """
    samples, names = TableSamples(table, list(columns.values())), list(columns)
    trusted = np.zeros((len(table), len(names)), dtype=bool)
    words = _label_words(table, columns)
    counts: Counter[str] = Counter()
    changes: dict[tuple[int, str], Any] = {}
    for (key, label), outcome in resolve(add_keys(decisions, samples.keys)).items():
        row = samples.index.get(key)
        if row is None or label not in columns:
            counts["unmatched"] += 1
        elif outcome in ("unsure", "conflict"):
            counts["unsure" if outcome == "unsure" else "conflicts"] += 1
        else:
            column, value = columns[label], _VALUES[outcome]
            old = to_number(dict(zip(table.columns, table.row(row), strict=False)).get(column, ""))
            trusted[row, names.index(label)] = True
            counts["confirmed" if old == value else "added" if np.isnan(old) else "changed"] += 1
            if old != value:
                changes[row, column] = words[column][value]
    kinds = ("changed", "confirmed", "added", "unsure", "conflicts", "unmatched")
    return Applied(table.replace(changes), trusted, *(counts[kind] for kind in kinds))


def trusted_csv(trusted: NDArray[np.bool_], label_names: Iterable[str]) -> str:
    """Return the trusted entries as a CSV file for the option ``--trusted`` of the commands.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.review import trusted_csv
    >>> print(trusted_csv(np.array([[True, False]]), ["sad", "calm"]), end="")
    sad,calm
    1,0
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(label_names)
    writer.writerows(trusted.astype(int).tolist())
    return buffer.getvalue()


def _label_words(table: TableFile | ParquetTable, columns: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """Return the text of a positive and of a negative in each label column, or in the other label columns."""
    used: dict[str, dict[int, Counter[str]]] = {}
    total: dict[int, Counter[str]] = {1: Counter(), 0: Counter()}
    for column in columns.values():
        used[column] = {1: Counter(), 0: Counter()}
        for text, count in Counter(table.column(column)).items():
            value = to_number(text)
            if value in (0, 1):
                used[column][int(value)][text] += count
                total[int(value)][text] += count
    return {
        column: {value: _most_common(counts[value], total[value], _WORDS[value]) for value in (1, 0)}
        for column, counts in used.items()
    }


def _most_common(first: Counter[str], second: Counter[str], default: str) -> str:
    return next((counts.most_common(1)[0][0] for counts in (first, second) if counts), default)
