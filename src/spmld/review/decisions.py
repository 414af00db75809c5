"""Decisions of reviewers about entries, and the rule that resolves conflicts."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

ANSWERS = ("present", "absent", "unsure", "skip")
"""Possible decisions about an entry."""
Place: TypeAlias = tuple[str, str]
"""Key of a sample and name of a label, which identify an entry."""


@dataclass(frozen=True)
class Decision:
    """Decision of a reviewer about one entry.

    Attributes
    ----------
    key : str
        Key of the sample, which is computed from all of its columns that are not labels; see
        `spmld.review.sample_keys`.
    label : str
        Name of the label.
    answer : {"present", "absent", "unsure", "skip"}
        The decision. "unsure" closes the entry without a change; "skip" moves it to the end of the queue.
    reviewer : str
        Name of the reviewer.
    time : str
        Time in UTC, in ISO format. By default, now.
    sample : int or None
        Index of the sample in the reviewed file.
    confidence : float or None
        Confidence of the prediction of a model; None for the decision of a person.

    Examples
    --------
    >>> from spmld.review import Decision
    >>> Decision("a1", "sad", "present", "ann").place
    ('a1', 'sad')
    """

    key: str
    label: str
    answer: str
    reviewer: str = ""
    time: str = ""
    sample: int | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.answer not in ANSWERS:
            raise ValueError(f"answer must be one of {', '.join(ANSWERS)}, got {self.answer!r}")
        if not self.time:
            object.__setattr__(self, "time", datetime.now(UTC).isoformat(timespec="milliseconds"))

    @property
    def place(self) -> Place:
        """Key of the sample and name of the label."""
        return self.key, self.label

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dictionary."""
        return asdict(self)


def add_keys(decisions: Iterable[Decision], keys: Sequence[str]) -> list[Decision]:
    """Return decisions with the keys of their samples. Other programs may write the index of the sample only.

    Examples
    --------
    >>> from spmld.review import Decision
    >>> from spmld.review.decisions import add_keys
    >>> [decision.key for decision in add_keys([Decision("", "sad", "absent", sample=1)], ["a1", "b2"])]
    ['b2']
    """
    return [
        replace(d, key=keys[d.sample]) if not d.key and d.sample is not None and 0 <= d.sample < len(keys) else d
        for d in decisions
    ]


def resolve(decisions: Iterable[Decision]) -> dict[Place, str]:
    """Return the outcome for each entry: "present", "absent", "unsure" or "conflict".

    The last decision of each reviewer counts, and "skip" does not. The majority of "present" and "absent" wins. A tie
    of these is a "conflict", which changes nothing until another decision resolves it. An entry that all reviewers
    are unsure about is "unsure".

    Parameters
    ----------
    decisions : iterable of Decision
        Decisions in order of time.

    Returns
    -------
    dict
        Outcome by key of the sample and name of the label.

    Examples
    --------
    >>> from spmld.review import Decision, resolve
    >>> ann, bob, eve = (Decision("a1", "sad", answer, name) for answer, name in
    ...                  [("present", "ann"), ("absent", "bob"), ("present", "eve")])
    >>> resolve([ann, bob]), resolve([ann, bob, eve])
    ({('a1', 'sad'): 'conflict'}, {('a1', 'sad'): 'present'})
    """
    last: dict[Place, dict[str, str]] = {}
    for decision in decisions:
        last.setdefault(decision.place, {})[decision.reviewer] = decision.answer
    outcomes = {place: _outcome(list(answers.values())) for place, answers in last.items()}
    return {place: outcome for place, outcome in outcomes.items() if outcome is not None}


def _outcome(answers: list[str]) -> str | None:
    present, absent = answers.count("present"), answers.count("absent")
    if present != absent:
        return "present" if present > absent else "absent"
    if present:
        return "conflict"
    return "unsure" if "unsure" in answers else None
