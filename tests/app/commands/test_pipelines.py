"""Commands on pipelines that were saved in Python."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import spmld
from spmld import MaskedLogistic
from spmld.estimators import ThresholdClassifier
from spmld.tables import TableEncoder

N = 90
SONGS = pd.DataFrame(
    {
        "song": [f"s{i}" for i in range(N)],
        "review": [("a slow sad song", "loud and fast music", "a calm and quiet tune")[i % 3] for i in range(N)],
        "tempo": [None if i % 7 == 0 else 60.5 + i % 13 for i in range(N)],
        "key": ["minor", "major"] * (N // 2),
    }
)
TAGS = pd.DataFrame({"sad": [i % 3 == 0 for i in range(N)], "fast": [i % 3 == 1 for i in range(N)]}).astype(int)
COLUMNS = ColumnTransformer(
    [
        ("words", TfidfVectorizer(), "review"),
        ("numbers", SimpleImputer(), ["tempo"]),
        ("categories", OneHotEncoder(), ["key"]),
    ]
)
PIPELINE = make_pipeline(TableEncoder(text=["review"]), MaskedLogistic())
MODELS = {
    "TableEncoder": PIPELINE,
    "ColumnTransformer": make_pipeline(COLUMNS, MaskedLogistic()),
    "thresholds": ThresholdClassifier(PIPELINE, random_state=0),
    "search": GridSearchCV(PIPELINE, {"maskedlogistic__C": [1.0, 10.0]}, cv=3),
    "pipeline of a pipeline": make_pipeline(PIPELINE[:1], MaskedLogistic()),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_pipeline_saved_in_python_predicts_and_is_evaluated(cli, name):
    features = SONGS.drop(columns="song")
    model = MODELS[name].fit(features, TAGS)
    spmld.save(model, "pipeline.skops")
    assert spmld.model_info("pipeline.skops").encoded
    SONGS[::-1].to_csv("new.csv", index=False)
    status, out, err = cli("predict", "pipeline.skops", "new.csv", "--id", "song", "-o", "tags.csv")
    assert (status, out) == (0, ""), err
    tags = pd.read_csv("tags.csv", index_col="song").loc[SONGS["song"]]
    np.testing.assert_array_equal(tags[list(TAGS)], model.predict(features))
    P = model.predict_proba(features)
    np.testing.assert_allclose(tags[[f"probability_{tag}" for tag in TAGS]], P, atol=5.1e-5)
    SONGS.join(TAGS.add_prefix("label_")).to_csv("labeled.csv", index=False)
    status, out, err = cli("evaluate", "pipeline.skops", "labeled.csv", "--json")
    assert status == 0, err
    assert '"micro_f1"' in out


@pytest.mark.parametrize("name", ["TableEncoder", "ColumnTransformer", "pipeline of a pipeline"])
def test_a_pipeline_saved_in_python_completes_labels(cli, name):
    spmld.save(MODELS[name].fit(SONGS.drop(columns="song"), TAGS), "pipeline.skops")
    frame = SONGS.join(TAGS.astype(float).add_prefix("label_"))
    frame.loc[:9, "label_sad"] = None
    frame.to_csv("gaps.csv", index=False)
    status, out, err = cli("complete", "gaps.csv", "--model", "pipeline.skops", "--id", "song")
    assert status == 0, err
    assert sorted(line.split(",")[0] for line in out.splitlines()[1:]) == ["s0", "s3", "s6", "s9"]


def test_labels_without_names_are_those_of_the_table_in_their_order(cli):
    spmld.save(PIPELINE.fit(SONGS.drop(columns="song"), TAGS.to_numpy()), "pipeline.skops")
    frame = SONGS.join(TAGS.add_prefix("label_"))
    frame.to_csv("labeled.csv", index=False)
    status, out, _ = cli("predict", "pipeline.skops", "labeled.csv")
    assert (status, out.splitlines()[0]) == (0, "y0,y1,probability_y0,probability_y1")
    assert cli("evaluate", "pipeline.skops", "labeled.csv")[0] == 0
    assert cli("evaluate", "pipeline.skops", "labeled.csv", "--label", "label_sad", "--label", "label_fast")[0] == 0
    frame.drop(columns="label_sad").to_csv("one.csv", index=False)
    status, _, err = cli("evaluate", "pipeline.skops", "one.csv")
    assert status == 2
    assert "the file has 1 label, and the model has 2" in err


def test_columns_that_the_table_lacks_are_named(cli):
    spmld.save(PIPELINE.fit(SONGS.drop(columns="song"), TAGS), "pipeline.skops")
    SONGS.drop(columns="tempo").to_csv("new.csv", index=False)
    status, _, err = cli("predict", "pipeline.skops", "new.csv")
    assert status == 2
    assert "the file lacks 1 of the 3 features, tempo" in err


def test_columns_that_the_fit_has_ignored_are_not_needed(cli):
    encoders = {
        "dropped": TableEncoder(text=["review"], drop=["song"]),
        "identifier": TableEncoder(text=["review"]),
        "remainder": COLUMNS,
        "named": ColumnTransformer([("numbers", SimpleImputer(), [2]), ("others", "drop", ["key"])], remainder="drop"),
    }
    SONGS.drop(columns="song").to_csv("new.csv", index=False)
    for name, encoder in encoders.items():
        model = ThresholdClassifier(make_pipeline(encoder, MaskedLogistic()), cv=2, random_state=0).fit(SONGS, TAGS)
        spmld.save(model, f"{name}.skops")
        status, out, err = cli("predict", f"{name}.skops", "new.csv", "--no-probabilities")
        assert status == 0, err
        predicted = [line.split(",") for line in out.split()[1:]]
        np.testing.assert_array_equal(np.array(predicted, dtype=int), model.predict(SONGS))


def test_types_are_trusted_by_name_and_the_error_names_the_option(cli):
    model = make_pipeline(TableEncoder(), MultiOutputClassifier(DecisionTreeClassifier(random_state=0)))
    with pytest.warns(UserWarning, match="untrusted types"):
        spmld.save(model.fit(SONGS[["tempo", "key"]], TAGS), "trees.skops")
    SONGS.to_csv("new.csv", index=False)
    command = ["predict", "trees.skops", "new.csv", "--no-probabilities"]
    status, _, err = cli(*command)
    assert status == 2
    option = re.search(r"--trust-type \S+", " ".join(err.split()))[0].split()
    assert cli(*command, *option)[0] == 0
    assert "no such option" in cli(*command, "--trusted", option[1])[2].lower()
