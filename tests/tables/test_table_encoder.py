"""TableEncoder: kinds of columns, permutation invariance, missing and new values, and model files."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import spmld
from spmld.tables import TableEncoder, TableWarning
from spmld.tables.columns import column_kind, date_formats, date_notes, date_parts, to_dates
from spmld.tables.text_terms import term_vectorizer
from tests.journeys.songs import make_songs

FRAME, Y = make_songs(80)


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2, np.nan] * 10, "number"),
        (["1,5", "2", None] * 10, "number"),
        (["yes", "no", None] * 10, "number"),
        (["1.5", "2"] * 14 + ["about 4", "3"], "number"),
        (["2024-01-31", None, "2023-12-01"] * 10, "date"),
        (["31.01.2024", "01.12.2023"] * 15, "date"),
        (["2024-01-31T10:00:00Z", "2024-01-31T11:30:00Z"] * 15, "date"),
        (["red", "blue", None] * 10, "category"),
        ([f"A-{i}" for i in range(30)], "identifier"),
        ([f"{word} is a long review" for word in "abcdefghij"] * 3, "text"),
        (["a b c d", "e f g h"] * 15, "category"),  # two values with many words
        (list(range(30)), "row number"),
        ([7 * i for i in range(30)], "number"),
        ([None] * 30, "empty"),
        (["same"] * 30, "constant"),
        ([["a"], ["b"]] * 15, "nested"),
        (range(100, 130), "number"),  # consecutive, but not from 0 or 1
        (["x"] * 20 + [None] * 10, "number"),  # x means yes
        (["same"] * 20 + [None] * 10, "category"),  # present or missing
        (["1", "2", "many"] * 10, "category"),  # two thirds are numbers
        (["2024-01-31", "2024-02-01", "later"] * 10, "category"),
    ],
)
def test_kinds(values, kind):
    assert column_kind(pd.Series(values, name="column")) == kind


@pytest.mark.parametrize(("name", "kind"), [("song_id", "identifier"), ("Id", "identifier"), ("tempo", "number")])
def test_whole_numbers_that_all_differ_are_identifiers_if_the_name_says_so(name, kind):
    assert column_kind(pd.Series([7, 3, 11, 5], name=name)) == kind


def test_features_do_not_depend_on_the_order_of_columns_and_ignore_others():
    encoder = TableEncoder(text=["review"]).fit(FRAME)
    assert encoder.kinds_ == {
        "song_id": "identifier",
        "review": "text",
        "tempo": "number",
        "format": "category",
        "released": "date",
    }
    X = dense(encoder.transform(FRAME))
    assert np.isfinite(X).all()
    assert X.shape[1] == len(encoder.get_feature_names_out()) == len(set(encoder.get_feature_names_out()))
    other = FRAME[FRAME.columns[::-1]].assign(more="text").set_index("song_id")
    np.testing.assert_array_equal(dense(encoder.transform(other)), X)
    order = np.random.default_rng(0).permutation(len(FRAME))
    np.testing.assert_array_equal(dense(encoder.transform(FRAME.iloc[order])), X[order])
    permuted = TableEncoder(text=["review"]).fit(FRAME.iloc[order])
    np.testing.assert_allclose(dense(permuted.transform(FRAME)), X)


def test_text_is_that_of_scikit_learn():
    frame = FRAME[["review"]]
    X = TableEncoder(text="review").fit_transform(frame)
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(frame["review"])
    characters = TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(2, 5)).fit_transform(
        frame["review"]
    )
    np.testing.assert_allclose(dense(X), np.hstack([words.toarray(), characters.toarray()]) / np.sqrt(2))


def test_terms_are_those_of_most_texts():
    """A term that is repeated in one text is not frequent; of equally frequent terms, the first ones are used."""
    texts = ["night night night rain", "slow rain", "slow dance", "calm night rain"]
    words = term_vectorizer("words", texts, 4).fit(texts)
    assert words.get_feature_names_out().tolist() == ["night", "night rain", "rain", "slow"]
    assert term_vectorizer("characters", texts, 3).vocabulary == [" r", " ra", " rai"]


def test_missing_texts_are_empty():
    encoder = TableEncoder(text="review").fit(FRAME[["review"]])
    for missing in (None, np.nan, pd.NA, ""):
        changed = pd.DataFrame({"review": pd.Series([missing, "slow"], dtype=object)})
        X = dense(encoder.transform(changed))
        assert not X[0].any()
        assert X[1].any()


def test_numbers_are_scaled_and_missing_ones_are_the_median():
    X = TableEncoder().fit_transform(pd.DataFrame({"a": [1.0, 2.0, np.nan, 6.0], "b": [1, 1, 0, 0]}))
    imputed = np.array([1.0, 2.0, 2.0, 6.0])
    np.testing.assert_allclose(X[:, 0], (imputed - imputed.mean()) / imputed.std())
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)


def test_text_and_other_columns_have_the_same_norm():
    encoder = TableEncoder(text=["review"]).fit(FRAME)
    X, names = dense(encoder.transform(FRAME)), encoder.get_feature_names_out()
    text = np.array([name.startswith("review: ") for name in names])
    np.testing.assert_allclose((X[:, text] ** 2).sum(axis=1), 1)
    # Each of the three other columns contributes a bounded number of unit-variance features.
    assert 0.5 < (X[:, ~text] ** 2).sum(axis=1).mean() < 4
    numbers = FRAME[["review"]].assign(a=np.arange(80) ** 2, b=np.sin(np.arange(80)), c=np.cos(np.arange(80)))
    encoded = dense(TableEncoder(text=["review"]).fit_transform(numbers))[:, -3:]
    np.testing.assert_allclose(encoded.var(axis=0), 1 / 3)  # the squared norm of the three has mean 1


def test_missing_and_new_values_in_transform():
    encoder = TableEncoder(text=["review"], allow_missing=True).fit(FRAME)
    other = FRAME.assign(format="tape", released="never", review="zzz", tempo="n/a")
    with pytest.warns(TableWarning, match="80 of 80 values of column 'released' cannot be read as dates"):
        X = dense(encoder.transform(other))
    assert np.isfinite(X).all()
    names = encoder.get_feature_names_out()
    assert not X[:, [name.startswith(("review: ", "format = ")) for name in names]].any()


def test_absent_and_unreadable_columns_are_errors_or_missing():
    encoder = TableEncoder(text=["review"]).fit(FRAME)
    fewer = FRAME.drop(columns=["review", "tempo"])
    lacks = "X lacks 2 of the 4 columns, review, tempo"
    with pytest.raises(ValueError, match=rf"{lacks}; the columns are song_id, format, .* \(allow_missing=True\)"):
        encoder.transform(fewer)
    with pytest.raises(ValueError, match=r"lacks 1 of the 4 columns, tempo; did you mean 'Tempo '\? \(allow_missing"):
        encoder.transform(FRAME.rename(columns={"tempo": "Tempo "}))
    slow = FRAME.assign(tempo=["slow", "n/a"] * 40)
    with pytest.raises(
        ValueError, match=r"40 of 40 values of column 'tempo' cannot be read as .* \(allow_missing=True\)"
    ):
        encoder.transform(slow)
    encoder.set_params(allow_missing=True)
    with pytest.warns(TableWarning, match=f"{lacks}; all values are treated as missing"):
        X = encoder.transform(fewer)
    np.testing.assert_array_equal(dense(X), dense(encoder.transform(FRAME.assign(review="", tempo=np.nan))))
    with pytest.warns(TableWarning, match="40 of 40 values of column 'tempo'"):
        X = encoder.transform(slow)
    np.testing.assert_array_equal(dense(X), dense(encoder.transform(FRAME.assign(tempo=np.nan))))


def test_dates_in_other_formats_have_the_same_features():
    iso = FRAME[["released", "tempo"]]
    dates = pd.to_datetime(iso["released"])
    X = TableEncoder().fit_transform(iso)
    for values in (dates, dates.dt.strftime("%d.%m.%Y"), dates.dt.strftime("%m/%d/%Y")):
        np.testing.assert_allclose(TableEncoder().fit_transform(iso.assign(released=values)), X)


def test_cycles_of_dates_close():
    parts = date_parts(to_dates(pd.Series(["2023-12-31", "2024-01-01", "2023-07-02"]), ["ISO8601"]), "d", hours=False)
    points = np.column_stack([parts["d_year_sin"], parts["d_year_cos"]])
    assert np.linalg.norm(points[0] - points[1]) < 0.05 < 1.9 < np.linalg.norm(points[0] - points[2])


@pytest.mark.parametrize("text", [["review"], []])
def test_pipelines_are_saved_and_loaded(text, tmp_path):
    frame = FRAME if text else FRAME.drop(columns="review")
    model = make_pipeline(TableEncoder(text=text), spmld.MaskedLogistic()).fit(frame, Y)
    spmld.save(model, tmp_path / "m.skops")
    loaded = spmld.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert spmld.model_info(tmp_path / "m.skops").feature_names == list(model[0].feature_names_in_)


def test_parameters_are_validated():
    encoder = clone(TableEncoder(text=["review"], max_terms=10))
    assert encoder.fit_transform(FRAME[["review"]]).shape == (80, 20)
    for wrong, message in (
        (TableEncoder(text=["revue"]), "column 'revue' of text does not exist; did you mean 'review'"),
        (TableEncoder(max_terms=0), "max_terms"),
        (TableEncoder(drop=list(FRAME.columns)), "at least one column of features"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong.fit(FRAME)
    with pytest.raises(ValueError, match=r"X must be a DataFrame .* got ndarray; use pandas\.DataFrame"):
        TableEncoder().fit(FRAME.to_numpy())
    with pytest.raises(ValueError, match="text column 'a' must contain words"):
        TableEncoder(text=["a"]).fit(pd.DataFrame({"a": ["!", "?"]}))


@pytest.mark.parametrize("name", ["Ticket-Nr.", "Song #", "record no.", "Auftragsnummer"])
def test_names_of_identifiers_may_end_in_signs(name):
    expected = "number" if name == "Auftragsnummer" else "identifier"  # one word, as in "number of songs"
    assert column_kind(pd.Series([100, 103, 106, 109], name=name)) == expected


@pytest.mark.parametrize("year", ["%Y", "%y"])
def test_the_order_of_day_and_month_is_that_of_most_dates(year):
    """Dates up to the twelfth can be read in both orders; a single later one decides."""
    rng = np.random.default_rng(0)
    early = [f"{d:02d}/{m:02d}" for d, m in rng.integers(1, 13, size=(39, 2))]
    text = "2021" if year == "%Y" else "21"
    for last, expected in (("25/03", "%d/%m/"), ("03/25", "%m/%d/")):
        for day_first in (False, True):
            values = pd.Series([f"{value}/{text}" for value in [*early, last]])
            (form,) = date_formats(values, day_first=day_first)
            assert form == expected + year
            assert not date_notes(values, "date", [form], day_first=False)
    values = pd.Series([f"{value}/{text}" for value in early])
    assert date_formats(values) == ["%m/%d/" + year]
    assert len(date_notes(values, "date", ["%m/%d/" + year], day_first=False)) == 1
    assert date_formats(values, day_first=True) == ["%d/%m/" + year]


def test_day_first_is_used_by_the_encoder():
    frame = pd.DataFrame({"date": ["03/04/2021", "05/06/2022", "07/08/2020"], "x": [1.0, 2.0, 4.0]})
    swapped = frame.assign(date=["04/03/2021", "06/05/2022", "08/07/2020"])
    X = TableEncoder(day_first=True).fit_transform(frame)
    np.testing.assert_allclose(X, TableEncoder().fit_transform(swapped))
    assert not np.allclose(X, TableEncoder().fit_transform(frame))
