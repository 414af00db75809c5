"""Writing annotations into the reviewed file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spmld.app.review.annotations import ANSWER_VALUES, Annotation, match_annotations, resolve
from spmld.app.review.editable_tables import EditableTable
from spmld.app.review.label_forms import LabelFields, TagColumn
from spmld.app.review.samples import TableSamples


@dataclass(frozen=True, eq=False)
class Applied:
    """Result of `apply_annotations`.

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
    unsure, conflicts : int
        Number of entries that were left as they are because reviewers are unsure or disagree.
    unwritten, implied : int
        Number of annotations that a column of tags cannot express, such as an absent tag of a sample whose labels are
        missing, and of entries without an annotation that were missing and are negative now, because their sample has
        its first tag.
    unmatched : list of Annotation
        Annotations of samples or labels that are not in the file.

    Examples
    --------
    See `apply_annotations`.
    """

    content: bytes
    written: NDArray[np.bool_]
    trusted: NDArray[np.bool_]
    changed: int
    confirmed: int
    added: int
    unsure: int
    conflicts: int
    unwritten: int
    implied: int
    unmatched: list[Annotation]


def apply_annotations(
    table: EditableTable,
    annotations: Iterable[Annotation],
    labels: Mapping[str, str] | LabelFields | TagColumn,
    id: str | None = None,
) -> Applied:
    r"""Write annotations into a table, whose other fields do not change.

    Labels are written in the form that the table uses, such as 1 and 0, yes and no, or a list of tags. The table has
    the new labels afterwards.

    Parameters
    ----------
    table : EditableTable
        Table, see `open_table`.
    annotations : iterable of Annotation
        Annotations of one or several reviewers, see `resolve`.
    labels : mapping, LabelFields or TagColumn
        Column of each label, or the column of tags.
    id : str, optional
        Column that identifies the samples, see `TableSamples`.

    Returns
    -------
    Applied

    Examples
    --------
    >>> from spmld.app.review import Annotation, apply_annotations
    >>> from spmld.app.review.label_forms import TagColumn
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> table = CsvTable("words,label_sad,label_calm\nThe rain,no,\nThe sun,yes,no\n")
    >>> annotations = [Annotation("", "sad", "present", sample=0), Annotation("", "calm", "absent", sample=0)]
    >>> applied = apply_annotations(table, annotations, {"sad": "label_sad", "calm": "label_calm"})
    >>> print(applied.content.decode(), end="")
    words,label_sad,label_calm
    The rain,yes,no
    The sun,yes,no
    >>> applied.changed, applied.added, applied.trusted[0]
    (1, 1, array([ True,  True]))
    >>> table = CsvTable("words,tags\nThe rain,calm | slow\nThe sun,calm\n")
    >>> applied = apply_annotations(table, annotations, TagColumn("tags", ["calm", "sad", "slow"]))
    >>> print(applied.content.decode(), end="")
    words,tags
    The rain,slow | sad
    The sun,calm
    """
    form = LabelFields(labels) if isinstance(labels, Mapping) else labels
    samples = TableSamples(table, form.columns, id=id)
    annotations, unmatched = match_annotations(annotations, samples, form.names)
    outcomes = resolve(annotations)
    columns = {name: j for j, name in enumerate(form.names)}
    places = {
        (key, name): (samples.index[key], columns[name])
        for key, name in outcomes
        if key in samples.index and name in columns
    }
    values = np.full((len(table), len(columns)), np.nan)
    verified = np.zeros((len(table), len(columns)), dtype=bool)
    for place, entry in places.items():
        values[entry] = ANSWER_VALUES.get(outcomes[place], np.nan)
    for annotation in annotations:
        if annotation.place in places and annotation.confidence is None:
            verified[places[annotation.place]] = True
    old = form.read(table)
    new = form.write(table, values)
    written = new == values
    given = [outcomes[place] for place in places]
    return Applied(
        content=table.content(),
        written=written,
        trusted=written & verified,
        changed=int((written & ~np.isnan(old) & (old != values)).sum()),
        confirmed=int((written & (old == values)).sum()),
        added=int((written & np.isnan(old)).sum()),
        unsure=given.count("unsure"),
        conflicts=given.count("conflict"),
        unwritten=int((~np.isnan(values) & ~written).sum()),
        implied=int((np.isnan(values) & np.isnan(old) & ~np.isnan(new)).sum()),
        unmatched=unmatched,
    )
