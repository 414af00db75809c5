"""Annotations of reviewers about entries, and the rule that resolves conflicts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from spmld.annotators import find_consensus, read_annotators
from spmld.app.review.table_samples import TableSamples
from spmld.labels.tags import label_of_tags

ANSWERS = ("present", "absent", "unsure", "skip")
"""Possible annotations about an entry."""
ANSWER_VALUES = {"present": 1, "absent": 0}
"""Labels of the annotations that decide an entry."""
MIN_CONSENSUS = 0.9
"""Probability from which the consensus of reviewers decides an entry, rather than their majority."""
Place: TypeAlias = tuple[str, str]
"""Key of a sample and name of a label, which identify an entry."""


@dataclass(frozen=True)
class Annotation:
    """Annotation of a reviewer about one entry.

    Attributes
    ----------
    key : str
        Key of the sample, which is computed from all of its columns that are not labels; see
        `spmld.app.review.table_samples.sample_keys`.
    label : str
        Name of the label.
    answer : {"present", "absent", "unsure", "skip"}
        The annotation. "unsure" closes the entry without a change; "skip" moves it to the end of the queue.
    reviewer : str
        Name of the reviewer.
    time : str
        Time in UTC, in ISO format. By default, now.
    sample : int or None
        Index of the sample in the reviewed file.
    confidence : float or None
        Confidence of the prediction of a model; None for the annotation of a person.
    sample_name : str
        Identifier of the sample in the file of another program, for messages.

    Examples
    --------
    >>> from spmld.app.review import Annotation
    >>> Annotation("a1", "sad", "present", "ann").place
    ('a1', 'sad')
    """

    key: str
    label: str
    answer: str
    reviewer: str = ""
    time: str = ""
    sample: int | None = None
    confidence: float | None = None
    sample_name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.answer not in ANSWERS:
            raise ValueError(f"answer must be one of {', '.join(ANSWERS)}, got {self.answer!r}")
        check_reviewer(self.reviewer)
        if not self.time:
            object.__setattr__(self, "time", datetime.now(UTC).isoformat(timespec="milliseconds"))

    @property
    def place(self) -> Place:
        """Key of the sample and name of the label."""
        return self.key, self.label


def check_reviewer(name: str) -> None:
    """Raise ValueError if a name cannot be stored or shown, such as bytes of a terminal that are not UTF-8."""
    if not name.isprintable():
        raise ValueError(f"reviewer must be printable text, got {name!r}; pass another name")


def match_annotations(
    annotations: Iterable[Annotation], samples: TableSamples, label_names: Sequence[str]
) -> tuple[list[Annotation], list[Annotation]]:
    r"""Return annotations with the keys and labels of a table, and those of them that are not in the table.

    Other programs may write the index of the sample only, another form of its identifier, or another spelling of the
    label.

    Examples
    --------
    >>> from spmld.app.review import Annotation
    >>> from spmld.app.review.annotations import match_annotations
    >>> from spmld.app.review.table_samples import TableSamples
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> samples = TableSamples(CsvTable("words,sad\nThe rain,1\nThe sun,0\n"), ["sad"])
    >>> annotations = [Annotation("", "Sad", "absent", sample=1), Annotation("", "sad", "absent", sample=7)]
    >>> matched, unmatched = match_annotations(annotations, samples, ["sad"])
    >>> matched[0].place == (samples.keys[1], "sad"), [annotation.sample for annotation in unmatched]
    (True, [7])
    """
    annotations = list(annotations)
    labels = label_of_tags(Counter(annotation.label for annotation in annotations), label_names)
    known = set(label_names)
    matched = []
    unmatched = []
    for annotation in annotations:
        by_index = not annotation.key and annotation.sample in range(len(samples.keys))
        sample = annotation.sample if by_index else samples.index.get(annotation.key)
        annotation = replace(annotation, label=labels[annotation.label])
        if sample is not None:
            annotation = replace(annotation, key=samples.keys[sample], sample=sample)
        if sample is None or annotation.label not in known:
            unmatched.append(annotation)
        matched.append(annotation)
    return matched, unmatched


def resolve(annotations: Iterable[Annotation]) -> dict[Place, str]:
    """Return the outcome for each entry: "present", "absent", "unsure" or "conflict".

    The last annotation of each reviewer counts, and "skip" does not. If reviewers answer "present" and "absent", the
    answer with a probability of at least `MIN_CONSENSUS` wins, given how the reviewers answer all entries
    that several of them have decided; see `Consensus.leaning`. If there is none, the majority wins. A tie is a
    "conflict", which changes nothing until another annotation resolves it. An entry that all reviewers are unsure
    about is "unsure".

    Parameters
    ----------
    annotations : iterable of Annotation
        Annotations in order of time.

    Returns
    -------
    dict
        Outcome by key of the sample and name of the label.

    Examples
    --------
    >>> from spmld.app.review import Annotation
    >>> from spmld.app.review.annotations import resolve
    >>> ann, bob, eve = (Annotation("a1", "sad", answer, name) for answer, name in
    ...                  [("present", "ann"), ("absent", "bob"), ("present", "eve")])
    >>> resolve([ann, bob]), resolve([ann, bob, eve])
    ({('a1', 'sad'): 'conflict'}, {('a1', 'sad'): 'present'})
    """
    last: dict[Place, dict[str, str]] = {}
    for annotation in annotations:
        last.setdefault(annotation.place, {})[annotation.reviewer] = annotation.answer
    names = sorted({name for answers in last.values() for name in answers})
    rows = [[ANSWER_VALUES.get(answers.get(name, ""), np.nan) for name in names] for answers in last.values()]
    outcomes = {}
    for (place, answers), present in zip(last.items(), _presence(np.array(rows)) if rows else (), strict=True):
        if not np.isnan(present):
            outcomes[place] = "conflict" if present == 0.5 else "present" if present > 0.5 else "absent"
        elif "unsure" in answers.values():
            outcomes[place] = "unsure"
    return outcomes


def _presence(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that a label is present where it decides, elsewhere the fraction of positive answers.

    `values` has a row for each entry, a column for each reviewer, and NaN where there is no answer. In the estimate,
    each entry has a copy with the opposite answers, so that a reviewer has one error rate for both answers. It needs
    fewer entries, and two reviewers who disagree are a tie unless others have decided some of their entries.
    """
    n_answers = (~np.isnan(values)).sum(axis=1)
    fraction = np.where(n_answers > 0, np.nansum(values, axis=1) / np.maximum(n_answers, 1), np.nan)
    disputed = (fraction > 0) & (fraction < 1)
    several = values[n_answers > 1]
    if not disputed.any():
        return fraction
    answers = read_annotators(np.concatenate([several, 1 - several])[:, :, None])
    probability = np.full(len(values), 0.5)
    probability[n_answers > 1] = find_consensus(answers).leaning[: len(several), 0]
    decisive = disputed & (np.maximum(probability, 1 - probability) >= MIN_CONSENSUS)
    return np.where(decisive, probability, fraction)
