"""From a messy table to a model that is evaluated, explained, saved, exported and reported, in separate processes."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.commands import run_python

FIT = """
import json
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
import spmld
from spmld.model_selection import MultilabelStratifiedKFold, cross_val_predict
from spmld.metrics import macro_auc, scorer
from spmld.app.reports import model_report

songs = pd.read_csv("songs.csv", index_col="song")
tags = songs[["calm", "lively"]]
columns = ColumnTransformer(
    [
        ("words", TfidfVectorizer(), "review"),
        ("genre", OneHotEncoder(handle_unknown="ignore"), ["genre"]),
        ("tempo", make_pipeline(SimpleImputer(), StandardScaler()), ["tempo"]),
    ],
    verbose_feature_names_out=False,
)
model = spmld.SelfPacedEnsemble(n_landmarks=40, n_trees=(20,), Cs=(3.0,), alphas=(1.0,), random_state=0)
model.set_output(predict="pandas")
pipeline = make_pipeline(columns, model)
folds = MultilabelStratifiedKFold(2, random_state=0)
auc = cross_val_score(pipeline, songs, tags, cv=folds, scoring=scorer("macro_auc"))
P = cross_val_predict(pipeline, songs, tags, cv=2, method="predict_proba")
grid = {"selfpacedensemble__decision": ["micro_f1", "f1"]}
search = GridSearchCV(pipeline, grid, cv=folds, scoring=scorer("micro_f1"))
search.fit(songs, tags)
pipeline.fit(songs, tags)
explanation = spmld.explain(pipeline, songs[:1], "calm")
spmld.save(pipeline, "songs.skops")
spmld.export_onnx(pipeline, "songs.onnx")
html = model_report(pipeline, songs, tags, audit=False, title="Songs")
open("songs.html", "w", encoding="utf-8").write(html)
print(json.dumps({
    "auc": auc.mean(),
    "out_of_fold": macro_auc(tags, P),
    "index": list(map(int, P.index)),
    "decision": search.best_params_["selfpacedensemble__decision"],
    "score": explanation.scores[0],
    "top": spmld.top_features(pipeline, songs).to_frame(3).to_dict("list"),
    "text": str(explanation),
    "probabilities": pipeline.predict_proba(songs).to_numpy().tolist(),
}))
"""
LOAD = """
import json
import onnxruntime
import pandas as pd
import spmld

songs = pd.read_csv("songs.csv", index_col="song")
pipeline = spmld.load("songs.skops")
probabilities = pipeline.predict_proba(songs)
session = onnxruntime.InferenceSession("songs.onnx", providers=["CPUExecutionProvider"])
texts = {name: songs[[name]].fillna("nan").to_numpy(dtype=object) for name in ("review", "genre")}
inputs = {**texts, "tempo": songs[["tempo"]].to_numpy(dtype="float32")}
computed, labels = session.run(["probabilities", "labels"], inputs)
print(json.dumps({
    "score": pipeline.decision_function(songs[:1])["calm"].iloc[0],
    "probabilities": probabilities.to_numpy().tolist(),
    "columns": list(probabilities.columns),
    "onnx": computed.tolist(),
    "labels": labels.tolist(),
    "predicted": pipeline.predict(songs).to_numpy().tolist(),
}))
"""


def run(code, folder):
    """Run a script in a folder, and return the JSON that it prints last."""
    status, out, err = run_python(folder, code)
    assert status == 0, err
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with reviews, categories, gaps and missing tags; the tags depend on words and on the tempo."""
    rng = np.random.default_rng(0)
    n, words = 240, np.array(["slow", "night", "fast", "dance", "love", "road", "city", "blue"])
    calm, lively = rng.random(n) < 0.4, rng.random(n) < 0.5
    chance = np.full((n, 8), 0.2)
    chance[:, :2] += 0.6 * calm[:, None]
    chance[:, 2:4] += 0.6 * lively[:, None]
    songs = pd.DataFrame({"review": [" ".join(words[rng.random(8) < p]) for p in chance]})
    songs["review"] = songs.review.where(songs.review != "", "nothing")
    songs["genre"] = rng.choice(["rock", "pop", ""], n)
    songs["tempo"] = np.where(rng.random(n) < 0.1, np.nan, 90 + 20 * lively + 10 * rng.normal(size=n))
    songs["calm"] = np.where(rng.random(n) < 0.4, np.nan, calm)
    songs["lively"] = np.where(rng.random(n) < 0.4, np.nan, lively)
    songs.index += 1000
    path = tmp_path_factory.mktemp("songs")
    songs.to_csv(path / "songs.csv", index_label="song")
    return path


def test_a_table_is_evaluated_explained_saved_exported_and_reported(folder):
    fitted, loaded = run(FIT, folder), run(LOAD, folder)
    assert fitted["auc"] > 0.8
    assert fitted["out_of_fold"] > 0.8
    assert fitted["index"] == list(range(1000, 1240))
    assert fitted["score"] == pytest.approx(loaded["score"])
    top = pd.DataFrame(fitted["top"])
    assert set(top[top.label == "calm"].feature[:2]) == {"slow", "night"}
    assert {"fast", "dance", "tempo"} == set(top[top.label == "lively"].feature)
    assert fitted["text"].startswith("calm, sample 1000: score")
    np.testing.assert_array_equal(loaded["probabilities"], fitted["probabilities"])
    np.testing.assert_allclose(loaded["onnx"], loaded["probabilities"], atol=1e-5)
    np.testing.assert_array_equal(loaded["labels"], loaded["predicted"])
    assert loaded["columns"] == ["calm", "lively"]
    html = (folder / "songs.html").read_text(encoding="utf-8")
    assert "Top features" in html
    assert "Model card" in html
