"""Texts whose emotions several people have annotated (SemEval 2025, task 11), from the folder ``SPMLD_DATA``."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spmld.datasets.registry import find_file

LANGUAGES = {"Afrikaans": "afr", "Romanian": "ron", "Swedish": "swe"}
"""Names of the languages, and the first letters of their files."""


class AnnotatedTexts(NamedTuple):
    """Texts and the answers of their annotators.

    Attributes
    ----------
    texts : list of str
        The samples.
    label_names : list of str
        The emotions.
    answers : ndarray of shape (n_annotators, n_samples, n_labels)
        1, 0, and NaN without an answer.
    """

    texts: list[str]
    label_names: list[str]
    answers: NDArray[np.float64]


def load_annotated_texts(language: str, max_samples: int | None = None) -> AnnotatedTexts:
    """Return the texts of a language in `LANGUAGES`, or a random selection of them.

    Examples
    --------
    >>> from studies.annotated_texts import load_annotated_texts
    >>> load_annotated_texts("Swedish", 1000).answers.shape  # doctest: +SKIP
    (3, 1000, 6)
    """
    frame = pd.read_csv(find_file(f"{LANGUAGES[language]}_individuals.csv"))
    text = next(name for name in frame.columns if name.startswith("text") and name != "text_id")
    annotators = [name for name in frame.columns if name.lower().startswith("annotator")]
    table = frame.drop_duplicates([text, "emotion"]).pivot(index=text, columns="emotion", values=annotators)
    if max_samples is not None and len(table) > max_samples:
        table = table.sample(max_samples, random_state=0)
    answers = np.stack([table[name].to_numpy(dtype=float) for name in annotators])
    names = table[annotators[0]].columns
    return AnnotatedTexts(list(table.index), list(names), np.where(np.isnan(answers), np.nan, answers > 0))


def contradicted(answers: NDArray[np.float64], annotator: int) -> NDArray[np.float64]:
    """Return which answers of an annotator the majority of the others contradicts.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        1 or 0, and NaN without an answer or with fewer than two answers of others.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.annotated_texts import contradicted
    >>> contradicted(np.array([[[1.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, np.nan]]]), 0)
    array([[ 1.,  0., nan]])
    """
    answer = answers[annotator]
    others = np.delete(answers, annotator, axis=0)
    n_others = (~np.isnan(others)).sum(axis=0)
    n_positive = np.nansum(others, axis=0)
    wrong = np.where(answer == 1, n_positive < n_others / 2, n_positive > n_others / 2)
    return np.where(np.isnan(answer) | (n_others < 2), np.nan, wrong)
