"""Writing decisions back into the reviewed file, and the trusted entries."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.review.decisions import Decision, add_keys, resolve
from spmld.review.label_forms import LabelFields, TagColumn
from spmld.review.samples import TableSamples
from spmld.review.tables import EditableTable

_VALUES = {"present": 1, "absent": 0}


@dataclass(frozen=True, eq=False)
class Applied:
    """Result of `apply_decisions`.

    Attributes
    ----------
    content : bytes
        Content of the new file.
    written : ndarray of bool of shape (n_samples, n_labels)
        Entries that are decided and that the new file contains.
    trusted : ndarray of bool of shape (n_samples, n_labels)
        Those of them that people have decided, and not a model.
    changed, confirmed, added : int
        Number of observed labels that were changed and confirmed, and of missing labels that were added.
    unsure, conflicts, unmatched : int
        Number of entries that were left as they are because reviewers are unsure or disagree, and of entries that are
        not in the file.
    unwritten, implied : int
        Number of decisions that a column of tags cannot express, such as an absent tag of a sample whose labels are
        missing, and of entries without a decision that were missing and are negative now, because their sample has
        its first tag.

    Examples
    --------
    See `apply_decisions`.
    """

    content: bytes
    written: NDArray[np.bool_]
    trusted: NDArray[np.bool_]
    changed: int
    confirmed: int
    added: int
    unsure: int
    conflicts: int
    unmatched: int
    unwritten: int
    implied: int


def apply_decisions(
    table: EditableTable,
    decisions: Iterable[Decision],
    labels: Mapping[str, str] | LabelFields | TagColumn,
    id: str | None = None,
) -> Applied:
    r"""Write decisions into a table, whose other fields do not change.

    Labels are written in the form that the table uses, such as 1 and 0, yes and no, or a list of tags.

    Parameters
    ----------
    table : TableFile, JsonLines, ExcelTable or ParquetTable
        Table, see `open_table`.
    decisions : iterable of Decision
        Decisions of one or several reviewers, see `resolve`.
    labels : mapping, LabelFields or TagColumn
        Column of each label, see `label_columns`, or the column of tags.
    id : str, optional
        Column that identifies the samples, see `TableSamples`.

    Returns
    -------
    Applied

    Examples
    --------
    >>> from spmld.review import Decision, TableFile, TagColumn, apply_decisions
    >>> table = TableFile("words,label_sad,label_calm\nThe rain,no,\nThe sun,yes,no\n")
    >>> decisions = [Decision("", "sad", "present", sample=0), Decision("", "calm", "absent", sample=0)]
    >>> applied = apply_decisions(table, decisions, {"sad": "label_sad", "calm": "label_calm"})
    >>> print(applied.content.decode(), end="")
    words,label_sad,label_calm
    The rain,yes,no
    The sun,yes,no
    >>> applied.changed, applied.added, applied.trusted[0]
    (1, 1, array([ True,  True]))
    >>> table = TableFile("words,tags\nThe rain,calm | slow\nThe sun,calm\n")
    >>> print(apply_decisions(table, decisions, TagColumn("tags", ["calm", "sad", "slow"])).content.decode(), end="")
    words,tags
    The rain,slow | sad
    The sun,calm
    """
    form = LabelFields(labels) if isinstance(labels, Mapping) else labels
    samples, places = TableSamples(table, form.columns, id=id), {name: j for j, name in enumerate(form.names)}
    decisions = form.with_names(add_keys(decisions, samples.keys))
    outcomes = resolve(decisions)
    matched = {
        (samples.index[key], label): outcome
        for (key, label), outcome in outcomes.items()
        if key in samples.index and label in places
    }
    decided = {place: _VALUES[outcome] for place, outcome in matched.items() if outcome in _VALUES}
    values = np.full((len(table), len(places)), np.nan)
    for (row, label), value in decided.items():
        values[row, places[label]] = value
    changes = form.changes(table, decided)
    old, new = form.read(table, {}), form.read(table, changes)
    written = new == values
    given = list(matched.values())
    verified = np.zeros(written.shape, dtype=bool)
    for key, label in {d.place for d in decisions if d.confidence is None}:
        if key in samples.index and label in places:
            verified[samples.index[key], places[label]] = True
    return Applied(
        content=table.replace(changes),
        written=written,
        trusted=written & verified,
        changed=int((written & ~np.isnan(old) & (old != values)).sum()),
        confirmed=int((written & (old == values)).sum()),
        added=int((written & np.isnan(old)).sum()),
        unsure=given.count("unsure"),
        conflicts=given.count("conflict"),
        unmatched=len(outcomes) - len(matched),
        unwritten=int((~np.isnan(values) & ~written).sum()),
        implied=int((np.isnan(values) & np.isnan(old) & ~np.isnan(new)).sum()),
    )


def trusted_csv(
    trusted: NDArray[np.bool_], label_names: Iterable[str], sample_names: Sequence[Any] | None = None, id: str = "id"
) -> str:
    """Return the trusted entries as a CSV file for the option ``--trusted`` of the commands.

    Parameters
    ----------
    trusted : ndarray of bool of shape (n_samples, n_labels)
        Trusted entries.
    label_names : iterable of str
        Names of the labels.
    sample_names : sequence, optional
        Identifiers of the samples for a first column, whose name is `id`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.review import trusted_csv
    >>> print(trusted_csv(np.array([[True, False]]), ["sad", "calm"], ["S1"], "song"), end="")
    song,sad,calm
    S1,1,0
    """
    names, rows = list(label_names), trusted.astype(int).tolist()
    if sample_names is not None and id not in names:
        names, rows = [id, *names], [[sample, *row] for sample, row in zip(sample_names, rows, strict=True)]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue()
