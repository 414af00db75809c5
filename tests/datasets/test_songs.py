"""Generated songs: frequencies, planted words, correlations, and the fractions of missing and wrong labels."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from spmld import MaskedLogistic, top_features
from spmld.datasets import from_frame, make_songs
from spmld.tables import TableWarning


def words_of(text):
    return set(re.findall(r"[a-z]+", text.lower()))


def test_frequencies_are_those_asked_for():
    songs = make_songs(400, 3, frequencies=[0.5, 0.25, 0.1], random_state=0)
    np.testing.assert_array_equal(songs.Y.sum(axis=0), [200, 100, 40])
    default = make_songs(1000, 12, random_state=0)
    np.testing.assert_allclose(default.Y.mean(axis=0), default.frequencies, atol=1e-3)
    assert default.frequencies[[0, -1]] == pytest.approx([0.35, 0.08])


def test_tags_of_similar_mood_occur_together():
    songs = make_songs(3000, 10, n_phrases=1, random_state=0)
    correlation = np.corrcoef(songs.Y.T)
    tag = songs.label_names.index
    for first, second, sign in [("rock", "metal", 1), ("electronic", "dance", 1), ("rock", "calm", -1)]:
        assert sign * correlation[tag(first), tag(second)] > 0.2


def test_without_noise_all_phrases_are_about_the_tags():
    songs = make_songs(100, noise=0.0, random_state=0)
    for text, row in zip(songs.texts, songs.Y, strict=True):
        allowed = {word for name, y in zip(songs.label_names, row, strict=True) if y for word in songs.words[name]}
        other = {word for name in songs.label_names for word in songs.words[name]} - allowed
        if row.any():
            assert not words_of(text) & other
            assert words_of(text) & allowed


def test_reviews_of_pure_noise_do_not_depend_on_the_tags():
    songs = [make_songs(50, 4, noise=1.0, frequencies=[f] * 4, random_state=0) for f in (0.1, 0.9)]
    used = [np.mean([bool(words_of(text) & set(data.words["rock"])) for text in data.texts]) for data in songs]
    assert used[0] == pytest.approx(used[1], abs=0.2)
    clear = make_songs(50, 4, noise=0.0, frequencies=[0.9, 0.1, 0.1, 0.1], random_state=0)
    assert np.mean([bool(words_of(text) & set(clear.words["rock"])) for text in clear.texts]) > used[1] + 0.2


def test_planted_words_are_the_top_features_of_their_tags():
    songs = make_songs(800, 6, random_state=0)
    vectorizer = TfidfVectorizer(stop_words="english")
    X = vectorizer.fit_transform(songs.texts)
    model = MaskedLogistic().fit(X, pd.DataFrame(songs.Y, columns=songs.label_names))
    rows = top_features(model, X, feature_names=vectorizer.get_feature_names_out()).to_frame(20).to_dict("records")
    for name in songs.label_names:
        top = [row["feature"] for row in rows if row["label"] == name and row["coefficient"] > 0][:6]
        assert set(top) <= set(songs.words[name])


def test_wrong_labels_keep_the_frequencies_and_the_reviews():
    clean, songs = (make_songs(500, wrong_fraction=fraction, random_state=3) for fraction in (0, 0.2))
    assert songs.texts == clean.texts
    np.testing.assert_array_equal(songs.Y_true, clean.Y)
    np.testing.assert_array_equal(songs.Y.sum(axis=0), clean.Y.sum(axis=0))
    lost, gained = (((songs.Y - songs.Y_true) == change).sum(axis=0) for change in (-1, 1))
    np.testing.assert_array_equal(lost, np.round(0.2 * clean.Y.sum(axis=0)))
    np.testing.assert_array_equal(gained, lost)


def test_songs_without_tags_are_missing_as_a_whole():
    complete, songs = (make_songs(300, wrong_fraction=0.1, observed_fraction=f, random_state=3) for f in (1, 0.4))
    missing = np.isnan(songs.Y)
    assert missing.all(axis=1).sum() == missing.any(axis=1).sum() == 180
    np.testing.assert_array_equal(songs.Y[~missing], complete.Y[~missing])
    np.testing.assert_array_equal(songs.Y_true, complete.Y_true)


def test_frame_holds_the_same_labels():
    songs = make_songs(300, 5, wrong_fraction=0.1, observed_fraction=0.6, as_frame=True, random_state=0)
    with pytest.warns(TableWarning, match="have an empty field 'tags'"):
        data = from_frame(songs.frame, text="review", tags="tags", id="song_id")
    order = [songs.label_names.index(name) for name in data.label_names]
    tagged = np.nan_to_num(songs.Y).any(axis=1)
    np.testing.assert_array_equal(data.Y[tagged], songs.Y[tagged][:, order])
    assert np.isnan(data.Y[~tagged]).all()
    assert list(data.sample_names) == songs.sample_names
    assert len(set(songs.sample_names)) == 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_labels": 13}, "n_labels must be at most 12, got 13"),
        ({"n_samples": 0}, "'n_samples' parameter of make_songs must be an int in the range .1, inf.. Got 0"),
        ({"noise": 1.5}, "'noise' parameter of make_songs must be a float in the range .0.0, 1.0.. Got 1.5"),
        ({"observed_fraction": 0}, "'observed_fraction' parameter"),
        ({"frequencies": [0.5]}, "frequencies must be 10 numbers between 0 and 1"),
    ],
)
def test_invalid_arguments_raise(options, message):
    with pytest.raises(ValueError, match=message):
        make_songs(**options)
