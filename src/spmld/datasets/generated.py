"""Generated data sets: a low-rank model with known parameters, and song reviews with missing and wrong tags."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from spmld._io import need
from spmld._validation import FRACTION, NON_NEGATIVE, POSITIVE_INT, UNIT_INTERVAL, validate_params
from spmld.labels import hide_labels

_SIZES = ("n_samples", "n_features", "n_labels", "n_components", "n_groups", "n_phrases")
_CONSTRAINTS = {
    **{size: [POSITIVE_INT] for size in _SIZES},
    "local": [NON_NEGATIVE],
    "noise": [NON_NEGATIVE],
    "observed_fraction": [FRACTION],
    "wrong_fraction": [UNIT_INTERVAL],
    "frequencies": ["array-like", None],
    "as_frame": ["boolean"],
    "random_state": ["random_state"],
}


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def make_planted(
    n_samples: int = 1000,
    n_features: int = 30,
    n_labels: int = 12,
    *,
    n_components: int = 4,
    n_groups: int = 2,
    local: float = 0.5,
    frequencies: Any = None,
    noise: float = 0.3,
    observed_fraction: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Generate multi-label data from a low-rank model in which label correlations differ between groups of samples.

    Samples are Gaussian around the centers of their groups. Latent labels are ``V = X W`` and scores ``F = V U_m^T`` in
    group m, where ``U_m`` is a common matrix plus `local` times a matrix of the group. Label i is positive for the
    fraction ``frequencies[i]`` of samples with the highest noisy scores.

    Parameters
    ----------
    n_samples, n_features, n_labels : int, default=1000, 30 and 12
        Numbers of samples, features and labels.
    n_components, n_groups : int, default=4 and 2
        Rank of the scores in a group, and number of groups of samples.
    local : float, default=0.5
        Size of the differences between groups. 0 is one linear model for all samples.
    frequencies : array-like of shape (n_labels,), optional
        Fraction of positives of each label. By default, a long tail from 0.4 to 0.03.
    noise : float, default=0.3
        Standard deviation of the noise, in standard deviations of the scores.
    observed_fraction : float in (0, 1], default=1.0
        Fraction of the labels to keep in ``Y``; the others are hidden by `spmld.labels.hide_labels`.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        ``X``; ``Y`` of 0 and 1, NaN where hidden; ``Y_true`` without hidden labels; and the true parameters: ``scores``
        without noise, ``latent_labels``, ``feature_weights``, ``label_factors`` (n_groups, n_labels, n_components),
        ``groups`` of the samples, ``label_correlation`` (n_groups, n_labels, n_labels) of the scores, ``frequencies``.

    Examples
    --------
    >>> from spmld.datasets import make_planted
    >>> make_planted(n_samples=200, n_labels=3, frequencies=[0.5, 0.2, 0.05], random_state=0).Y.mean(axis=0)
    array([0.5 , 0.2 , 0.05])
    """
    frequencies = _check_frequencies(frequencies, n_labels, default=(0.4, 0.03))
    rng = check_random_state(random_state)
    groups = np.sort(rng.randint(n_groups, size=n_samples))
    centers = 2 * rng.normal(size=(n_groups, n_features)) / np.sqrt(n_features)
    X = centers[groups] + rng.normal(size=(n_samples, n_features))
    W = rng.normal(size=(n_features, n_components)) / np.sqrt(n_features)
    U = rng.normal(size=(n_labels, n_components)) + local * rng.normal(size=(n_groups, n_labels, n_components))
    V = X @ W
    scores = np.empty((n_samples, n_labels))
    for m in range(n_groups):
        scores[groups == m] = V[groups == m] @ U[m].T
    noisy = scores + noise * (scores.std(axis=0) + np.finfo(float).tiny) * rng.normal(size=scores.shape)
    covariance = np.stack([u @ W.T @ W @ u.T for u in U])
    deviation = np.sqrt(np.einsum("gii->gi", covariance))
    Y = _highest(noisy, frequencies)
    return Bunch(
        X=X,
        Y=Y if observed_fraction == 1 else hide_labels(Y, observed_fraction, random_state=random_state),
        Y_true=Y,
        scores=scores,
        latent_labels=V,
        feature_weights=W,
        label_factors=U,
        groups=groups,
        label_correlation=covariance / deviation[:, :, None] / deviation[:, None, :],
        frequencies=frequencies,
    )


def _highest(scores: Any, frequencies: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return labels that are positive for the given fractions of samples with the highest scores."""
    ranks = scores.argsort(axis=0, kind="stable").argsort(axis=0)
    return (ranks >= len(scores) - np.round(frequencies * len(scores))).astype(np.int64)


def _check_frequencies(frequencies: Any, n_labels: int, default: tuple[float, float]) -> NDArray[np.float64]:
    """Return the frequencies of the labels; by default, a long tail between two numbers."""
    if frequencies is None:
        return np.geomspace(*default, n_labels)
    values = np.asarray(frequencies, dtype=float)
    if values.shape != (n_labels,) or (values <= 0).any() or (values >= 1).any():
        raise ValueError(f"frequencies must be {n_labels} numbers between 0 and 1, got {frequencies!r}")
    return values


# Adjectives and nouns that reviews use for a tag, and the loadings of the tag on the moods of a song: how loud, how
# electronic and how cheerful it is. A few words belong to two tags.
_TAGS = {
    "rock": ("loud gritty raw heavy rough", "guitar riff drums amplifier solo", (1.2, -0.2, 0.2)),
    "calm": ("gentle quiet soft slow warm", "piano breath pause morning evening", (-1.6, 0.1, 0.3)),
    "happy": ("bright sunny cheerful playful sweet", "summer smile whistle clapping holiday", (0.4, 0.1, 1.6)),
    "electronic": ("digital pulsing robotic cold glossy", "synthesizer sequencer loop sampler filter", (0.5, 1.6, 0)),
    "sad": ("lonely tearful grey slow bitter", "rain goodbye ghost letter winter", (-0.9, -0.2, -1.5)),
    "folk": ("acoustic rural wooden old honest", "fiddle banjo village ballad guitar", (-0.7, -1.5, 0)),
    "dance": ("fast sweaty bouncing funky pulsing", "club floor bass beat disco", (1.0, 1.1, 0.8)),
    "jazz": ("swinging smoky improvised brassy loose", "saxophone trumpet trio cymbals bar", (-0.2, -0.6, 0.3)),
    "metal": ("brutal furious heavy dark thunderous", "growl riff blast battle darkness", (1.7, -0.1, -0.9)),
    "classical": ("grand noble wooden delicate formal", "orchestra violin sonata cello conductor", (-0.9, -0.9, -0.1)),
    "rap": ("rhyming spoken clever streetwise boastful", "verse rapper flow microphone sampler", (0.6, 0.8, 0.1)),
    "live": ("cheering sweaty crowded echoing spontaneous", "audience stage encore applause concert", (0.5, -0.5, 0.2)),
}
_COMMON = ("new second last whole first long", "album single chorus lyrics cover melody title producer")
_ARTICLES = ("the", "its", "their")
_SENTENCES = (
    *("What stays is {}.", "I keep hearing {}.", "Listen to {}.", "Again {}.", "My friends like {}."),
    *("It is all about {}.", "They recorded {} at home.", "You remember {}."),
)


@validate_params({**_CONSTRAINTS, "noise": [UNIT_INTERVAL]}, prefer_skip_nested_validation=True)
def make_songs(
    n_samples: int = 1000,
    n_labels: int = 10,
    *,
    n_phrases: int = 6,
    noise: float = 0.4,
    frequencies: Any = None,
    observed_fraction: float = 1.0,
    wrong_fraction: float = 0.0,
    as_frame: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Generate reviews of songs in English words, with tags such as rock, sad and folk.

    A song has three moods, which are independent normal variables. A tag is positive for the songs with the highest
    values of its sum of moods plus normal noise, so that tags with similar moods occur together. A review has phrases
    such as "the gentle piano". Most of them consist of words for one of the tags of the song, the others of common
    words or of words for a tag at random. Some tags are therefore not visible in the review.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of songs.
    n_labels : int, default=10
        Number of tags, at most 12.
    n_phrases : int, default=6
        Number of phrases in a review.
    noise : float in [0, 1], default=0.4
        Fraction of phrases, on average, that are independent of the tags of the song.
    frequencies : array-like of shape (n_labels,), optional
        Fraction of the songs with each tag. By default, a long tail from 0.35 to 0.08.
    observed_fraction : float in (0, 1], default=1.0
        Fraction of the songs that are tagged. All labels of the other songs are missing.
    wrong_fraction : float in [0, 1], default=0.0
        Fraction of the songs with a tag that lose it by mistake. The same number of songs without the tag get it, so
        that its frequency does not change.
    as_frame : bool, default=False
        Whether to return `frame`, which requires pandas.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        ``texts``, a list of reviews; ``Y`` of 0 and 1, NaN where missing; ``Y_true`` without missing and wrong labels;
        ``label_names``; ``sample_names``, the identifiers of the songs; ``words``, the words of each tag; and
        ``frequencies``. If `as_frame` is True, also ``frame``, a DataFrame with the columns "song_id", "review" and
        "tags". Tags are separated by "; ", and the field of a song without observed positives is empty.

    Examples
    --------
    >>> from spmld.datasets import make_songs
    >>> songs = make_songs(n_samples=200, n_labels=4, n_phrases=3, random_state=0)
    >>> songs.label_names
    ['rock', 'calm', 'happy', 'electronic']
    >>> songs.texts[4]
    'What stays is their bright clapping and its rough solo. Listen to their heavy riff.'
    >>> songs.Y[4]
    array([1, 0, 1, 0])
    """
    if n_labels > len(_TAGS):
        raise ValueError(f"n_labels must be at most {len(_TAGS)}, got {n_labels!r}")
    frequencies = _check_frequencies(frequencies, n_labels, default=(0.35, 0.08))
    rng = check_random_state(random_state)
    names = list(_TAGS)[:n_labels]
    loadings = np.array([_TAGS[name][2] for name in names])
    scores = rng.normal(size=(n_samples, 3)) @ loadings.T + rng.normal(size=(n_samples, n_labels))
    Y_true = _highest(scores, frequencies)
    songs = Bunch(
        texts=[_write_review(names, row, n_phrases, noise, rng) for row in Y_true],
        Y_true=Y_true,
        label_names=names,
        sample_names=[f"S{i:0{len(str(n_samples))}d}" for i in range(1, n_samples + 1)],
        words={name: " ".join(_TAGS[name][:2]).split() for name in names},
        frequencies=frequencies,
    )
    Y = _exchange(Y_true, wrong_fraction, rng)
    if observed_fraction < 1:
        Y = Y.astype(float)
        Y[rng.permutation(n_samples)[round(observed_fraction * n_samples) :]] = np.nan
    songs.Y = Y
    if as_frame:
        tags = ["; ".join(np.array(names)[row == 1]) or None for row in Y]
        columns = {"song_id": songs.sample_names, "review": songs.texts, "tags": tags}
        songs.frame = need("pandas").DataFrame(columns)
    return songs


def _write_review(names: list[str], labels: Any, n_phrases: int, noise: float, rng: Any) -> str:
    """Write phrases in sentences of one or two phrases."""
    present = np.flatnonzero(labels)
    phrases = []
    for _ in range(n_phrases):
        adjectives, nouns = _COMMON
        if present.size and rng.uniform() >= noise:
            adjectives, nouns, _ = _TAGS[names[_draw(present, rng)]]
        elif rng.uniform() < 0.5:
            adjectives, nouns, _ = _TAGS[_draw(names, rng)]
        phrases.append(f"{_draw(_ARTICLES, rng)} {_draw(adjectives.split(), rng)} {_draw(nouns.split(), rng)}")
    order = rng.permutation(len(_SENTENCES))
    sentences: list[str] = []
    while phrases:
        size = rng.randint(1, 3)
        sentence = _SENTENCES[order[len(sentences) % len(order)]]
        sentences.append(sentence.format(" and ".join(phrases[:size])))
        phrases = phrases[size:]
    return " ".join(sentences)


def _draw(values: Any, rng: Any) -> Any:
    return values[rng.randint(len(values))]


def _exchange(Y: NDArray[np.int64], fraction: float, rng: Any) -> NDArray[np.int64]:
    """Move a fraction of the positives of each label to other samples."""
    wrong = Y.copy()
    for column, labels in zip(wrong.T, Y.T, strict=True):
        positives, negatives = (rng.permutation(np.flatnonzero(labels == value)) for value in (1, 0))
        count = min(round(fraction * len(positives)), len(negatives))
        column[positives[:count]] = 0
        column[negatives[:count]] = 1
    return wrong
