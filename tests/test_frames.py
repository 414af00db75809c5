"""Data frames of polars: tables are encoded as those of pandas, and labels are given back as frames of polars."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

from spmld import MaskedLogistic
from spmld.datasets import from_frame
from spmld.labels import decode_missing, hide_labels
from spmld.tables import TableEncoder, TableError

pl = pytest.importorskip("polars")

N = 60
COLUMNS = {
    "review": [f"a {word} song, number {i}" for i, word in enumerate(["sad", "loud", "slow"] * (N // 3))],
    "tempo": [None if i % 7 == 0 else 60 + i % 13 for i in range(N)],
    "key": [None if i % 5 == 0 else ("minor", "major")[i % 2] for i in range(N)],
    "live": [None if i % 9 == 0 else i % 4 == 0 for i in range(N)],
    "date": [None if i % 11 == 0 else datetime.date(2024, 1 + i % 12, 1 + i % 28) for i in range(N)],
    "price": [f"{i},5" for i in range(N)],
}
LABELS = {"label_sad": [i % 3 == 0 if i % 4 else None for i in range(N)], "label_calm": [i % 3 // 2 for i in range(N)]}


def same_values(A, B):
    A, B = (M.toarray() if hasattr(M, "toarray") else M for M in (A, B))
    np.testing.assert_array_equal(A, B)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_tables_are_encoded_as_those_of_pandas(make):
    frame, table = pd.DataFrame(COLUMNS), make(COLUMNS)
    expected, encoder = TableEncoder(text=["review"]).fit(frame), TableEncoder(text=["review"]).fit(table)
    assert encoder.kinds_ == expected.kinds_
    assert list(encoder.kinds_.values()) == ["text", "number", "category", "number", "date", "number"]
    assert list(encoder.get_feature_names_out()) == list(expected.get_feature_names_out())
    same_values(encoder.transform(table), expected.transform(frame))
    same_values(expected.transform(table), expected.transform(frame))


def test_a_data_set_of_a_table_is_that_of_pandas():
    expected = from_frame(pd.DataFrame({**COLUMNS, **LABELS}), text="review", id="price")
    data = from_frame(pl.DataFrame({**COLUMNS, **LABELS}), text="review", id="price")
    same_values(data.X, expected.X)
    same_values(data.Y, expected.Y)
    assert (data.feature_names, data.label_names) == (expected.feature_names, expected.label_names)
    assert data.sample_names == expected.sample_names
    tags = {"tempo": COLUMNS["tempo"], "tags": [("sad; calm", "loud", None)[i % 3] for i in range(N)]}
    same_values(from_frame(pl.DataFrame(tags), tags="tags").Y, from_frame(pd.DataFrame(tags), tags="tags").Y)


def test_what_is_no_table_is_named():
    with pytest.raises(ValueError, match=r"X must be a DataFrame .* got LazyFrame; call X\.collect\(\) first"):
        TableEncoder().fit(pl.LazyFrame(COLUMNS))
    with pytest.raises(ValueError, match=r"frame must be a DataFrame .* got list; use pandas\.DataFrame\(frame"):
        from_frame([[1, 2]])
    with pytest.raises(TableError, match="no samples"):
        from_frame(pl.DataFrame(schema={"tempo": pl.Int64, "label_sad": pl.Int64}))


def test_a_pipeline_predicts_from_tables():
    Y = pl.DataFrame(LABELS)
    model = make_pipeline(TableEncoder(text=["review"]), MaskedLogistic())
    expected = model.fit(pd.DataFrame(COLUMNS), pd.DataFrame(LABELS)).predict_proba(pd.DataFrame(COLUMNS))
    np.testing.assert_array_equal(model.fit(pl.DataFrame(COLUMNS), Y).predict_proba(pl.DataFrame(COLUMNS)), expected)
    assert model[-1].label_names_ == list(LABELS)


def test_completed_labels_are_given_back_as_what_came_in():
    X = np.random.default_rng(0).normal(size=(N, 3))
    Y = pl.DataFrame({"sad": [("no", "yes", None)[i % 3] for i in range(N)], "calm": ["yes", "no"] * (N // 2)})
    model = MaskedLogistic().fit(X, Y)
    expected = model.complete(X, Y.to_pandas())
    completion = model.complete(X, Y)
    for values, pandas_values in zip(completion, expected, strict=True):
        assert isinstance(values, pl.DataFrame)
        assert values.columns == Y.columns
        same_values(values.to_numpy(), pandas_values.to_numpy())
    vector = model.fit(X, Y["calm"]).complete(X, Y["calm"].to_frame().to_series().replace("no", None))
    assert isinstance(vector.labels, pl.Series)
    assert vector.labels.name == "calm"


def test_hidden_and_decoded_labels_are_null():
    Y = pl.DataFrame({"sad": [1, 0] * 30, "calm": [0, 1] * 30})
    hidden = hide_labels(Y, observed_fraction=0.5, random_state=0)
    assert isinstance(hidden, pl.DataFrame)
    expected = hide_labels(Y.to_numpy(), observed_fraction=0.5, random_state=0)
    np.testing.assert_array_equal(hidden.to_numpy(), expected)
    assert sum(hidden.null_count().row(0)) == np.isnan(expected).sum() > 0
    assert decode_missing(pl.DataFrame({"sad": [1, 0, -1]}), missing=0)["sad"].to_list() == [1.0, None, 0.0]
