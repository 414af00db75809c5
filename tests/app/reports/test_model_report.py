"""Model reports have the numbers of the library, the sections that apply, and no external resources."""

from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from spmld import SPMLD, LabelPrior, MaskedLogistic, SelfPacedEnsemble
from spmld._table import format_number
from spmld.app.reports import model_report
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.estimators import ThresholdClassifier
from spmld.inspection import top_features
from spmld.labels import hide_labels
from spmld.metrics import evaluate, macro_auc
from tests.app.reports.tables import Page

EVIL = "<script>alert(1)</script>"
NAMES = [EVIL, "calm & quiet", "$5 to $6", "fast"]
DATA = make_planted(160, 6, 4, n_components=3, random_state=0)
X, Y = DATA.X[1::2], DATA.Y[1::2]
X_TRAIN = DATA.X[::2]
Y_TRAIN = pd.DataFrame(hide_labels(DATA.Y[::2], observed_fraction=0.8, random_state=0), columns=NAMES)
NAMED = LabelPrior().fit(X_TRAIN, Y_TRAIN)
ALWAYS = ["Summary", "Metrics", "Labels"]


@pytest.fixture(scope="module")
def spmld():
    return SPMLD(random_state=0).fit(X_TRAIN, Y_TRAIN)


@pytest.fixture(scope="module")
def html(spmld):
    return model_report(spmld, X, Y, X_train=X_TRAIN, Y_train=Y_TRAIN, title=EVIL, facts={EVIL: EVIL})


def test_all_sections_that_apply_are_present(html):
    page = Page(html)
    middle = ["Calibration", "Likely label errors", "Missing labels", "Top features"]
    assert page.sections == [*ALWAYS, *middle, "Model card"]
    assert len(page.alts) == 1  # the reliability diagram


def test_the_metrics_are_those_of_evaluate(html, spmld):
    rows = {row["metric"]: row for row in Page(html).tables["All metrics"]}
    scores, positive = spmld.decision_function(X), spmld.predict(X)
    expected = evaluate(Y, scores, positive, spmld.predict_proba(X))
    assert len(rows) == len(expected)
    for row, name in (("ranking loss", "ranking_loss"), ("macro F1", "macro_f1"), ("log loss", "log_loss")):
        assert rows[row]["value"] == f"{expected[name]:.4f}"


def test_metrics_of_labels(html, spmld):
    page, scores = Page(html), spmld.decision_function(X)
    rows = page.tables["All labels"]
    assert [row["label"] for row in rows] == NAMES
    assert [row["AUC"] for row in rows] == [f"{auc:.4f}" for auc in macro_auc(Y, scores, average=None)]
    for average, name in ((recall_score, "recall"), (precision_score, "precision")):
        values = average(Y, spmld.predict(X), average=None, zero_division=np.nan)
        assert [row[name] for row in rows] == [format_number(float(value)) for value in values]


def test_probabilities_and_rates_have_no_exponent():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(300, 3))
    labels = (samples > 0).astype(float)
    samples[0, 0], labels[0, 0] = -1, 1
    rates = {"false_positive_rate": 8.9e-6, "false_negative_rate": 0.0}
    model = SelfPacedEnsemble(views=("linear",), Cs=(1.0,), **rates, random_state=0).fit(samples, labels)
    page = Page(model_report(model, samples, labels))
    assert page.tables["Labels that are present and unlikely"][0]["label_quality"] == "<0.0001"
    assert "false positives and false negatives: <0.0001 and 0.0000" in page.text


def test_label_errors_and_missing_labels_are_those_of_the_library(html, spmld):
    page = Page(html)
    issues = find_label_issues(None, X_TRAIN, Y_TRAIN, random_state=0)
    for kind, title in (("present", "present and unlikely"), ("absent", "absent and likely")):
        expected = issues.table(20, kind=kind)
        found = pd.DataFrame(page.tables[f"Labels that are {title}"])
        assert found["sample"].tolist() == expected["sample"].astype(str).tolist()
        assert found.label.tolist() == expected.label.tolist()
        np.testing.assert_allclose(
            found.label_quality.str.lstrip("<").astype(float), expected.label_quality, rtol=5e-3, atol=1e-4
        )
    completion = spmld.complete(X_TRAIN, Y_TRAIN)
    missing = np.isnan(Y_TRAIN.to_numpy())
    add = missing & (completion.labels.to_numpy() == 1)
    rows = page.tables["Predicted positives"]
    assert len(rows) == min(20, add.sum())
    assert rows[0]["confidence"] == f"{completion.confidences.to_numpy()[add].max():.4f}"
    assert f"Of {missing.sum()} missing labels of the training samples, {add.sum()} are" in page.text


def test_thresholds_features_and_card(chosen):
    page = Page(model_report(chosen, X, Y, X_train=X_TRAIN, Y_train=Y_TRAIN, audit=False))
    p = chosen.predict_proba(X)
    rule = chosen.decision_rule_
    thresholds = (p - rule.margins(p)).mean(axis=0) if rule.thresholds_ is None else rule.thresholds_
    assert [row["threshold"] for row in page.tables["All labels"]] == [f"{value:.4f}" for value in thresholds]
    rows = top_features(chosen, X_TRAIN).table().rows
    shown = page.tables["Features of each label"]
    assert [list(row.values())[1:] for row in shown] == [list(row[1:]) for row in rows]
    assert [row["label"] for row in shown] == NAMES
    assert "labels that maximize the expected F1" in page.text
    assert "noise model" in page.text


def test_limitations_name_rare_labels():
    labels = np.column_stack([np.arange(80) < 4, np.zeros(80), np.arange(80) % 2])
    model = MaskedLogistic().fit(X, labels)
    page = Page(model_report(model, X, labels, audit=False, label_names=["rare", "never", "often"]))
    limits = [row["limitation"] for row in page.tables["Limitations"]]
    assert "Label never: all observed entries are negative, so that only negatives can be learned" in limits
    assert "Label rare: fewer than 10 observed positives: uncertain" in limits


def test_names_are_escaped(html):
    assert EVIL not in html
    assert html.count("<script") == 1
    assert Page(html).tables["All labels"][0]["label"] == EVIL


def test_there_are_no_external_links_and_ids_are_unique(html):
    page = Page(html)
    assert all(link.startswith(("#", "data:image/svg+xml")) for link in page.links)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert "default-src 'none'" in unescape(html)


def test_the_report_is_deterministic(html, spmld):
    repeated = model_report(spmld, X, Y, X_train=X_TRAIN, Y_train=Y_TRAIN, title=EVIL, facts={EVIL: EVIL})
    assert repeated == html


@pytest.mark.parametrize(
    ("model", "sections"),
    [
        (LabelPrior(), ["Calibration"]),
        (ThresholdClassifier(MaskedLogistic(), decision="macro_f1", random_state=0), ["Calibration", "Top features"]),
        (ThresholdClassifier(MaskedLogistic(), decision=2, random_state=0), ["Calibration", "Top features"]),
        (ClassifierChain(LogisticRegression()), ["Calibration"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_sections_that_do_not_apply_are_left_out(model, sections):
    page = Page(model_report(model.fit(X_TRAIN, DATA.Y[::2]), X, Y, audit=False))
    assert page.sections == [*ALWAYS, *sections, "Model card"]
    cuts = [row["threshold"] for row in page.tables["All labels"] if "threshold" in row]
    thresholds = getattr(model, "thresholds_", None)
    assert cuts == ([] if thresholds is None else [f"{cut:.4f}" for cut in thresholds])


@pytest.fixture(scope="module")
def chosen():
    model = SelfPacedEnsemble(
        views=("ridge", "linear", "latent"), Cs=(1.0, 10.0), alphas=(1.0,), keep_fraction=0.9, random_state=0
    )
    return model.fit(X_TRAIN, Y_TRAIN)


def test_model_inside_a_pipeline_is_described(chosen):
    around = make_pipeline(
        FunctionTransformer(), ThresholdClassifier(clone(chosen).set_params(Cs=(1.0,)), cv=2, random_state=0)
    )
    page = Page(model_report(around.fit(X_TRAIN, DATA.Y[::2]), X, Y, audit=False))
    weight = around[-1].estimator_.view_weights_["ridge"]
    assert f"weight of the view ridge{weight:.2f}" in page.text
    assert "kept fraction of positives0.9" in page.text


@pytest.mark.parametrize("model", [KNeighborsClassifier(), MultiOutputClassifier(LogisticRegression())], ids=repr)
def test_classifiers_with_a_list_of_probabilities(model):
    model.fit(X_TRAIN, DATA.Y[::2])
    page = Page(model_report(model, X, Y, audit=False))
    p = np.column_stack([probabilities[:, 1] for probabilities in model.predict_proba(X)])
    assert [row["AUC"] for row in page.tables["All labels"]] == [f"{auc:.4f}" for auc in macro_auc(Y, p, average=None)]
    assert "Calibration" in page.sections


def test_samples_have_the_names_of_the_frame():
    labels = pd.DataFrame(Y, index=[f"song {i}" for i in range(len(Y))])
    page = Page(model_report(LabelPrior().fit(X_TRAIN, DATA.Y[::2]), X, labels))
    assert page.tables["Labels that are present and unlikely"][0]["sample"].startswith("song ")


def test_one_label_is_enough():
    model = MaskedLogistic().fit(X_TRAIN, DATA.Y[::2, 0])
    labels = np.where(np.arange(80) < 5, np.nan, Y[:, 0])
    page = Page(model_report(model, X, labels, audit=False, label_names=["calm"]))
    assert page.sections == [*ALWAYS, "Calibration", "Missing labels", "Top features", "Model card"]
    (row,) = page.tables["All labels"]
    assert row["AUC"] == f"{macro_auc(labels[:, None], model.decision_function(X)[:, None]):.4f}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Y": np.full(Y.shape, np.nan)}, "Y has no observed entry"),
        ({"Y": Y[:5]}, "X and Y must have the same number of samples, got inconsistent numbers: 80 and 5"),
        ({"Y": Y[:, :3]}, "Y must have the 4 labels of the model, got 3"),
        ({"label_names": ["one"]}, "label_names must have one name for each of the 4 labels, got 1"),
        ({"X_train": X}, "X_train and Y_train must be passed together, got only one of them"),
        (
            {"model": NAMED, "Y": pd.DataFrame(Y, columns=NAMES[::-1])},
            "Y must have the labels of the model in their order",
        ),
        (
            {"model": NAMED, "X_train": X, "Y_train": pd.DataFrame(Y)},
            r"Y_train must have .* got \['0', '1', '2', '3'\]",
        ),
        ({"top": 0}, "top must be an integer of at least 1, got 0"),
        ({"model": object()}, "model must be a fitted estimator with predict"),
    ],
)
def test_invalid_arguments_raise(changes, message):
    model = LabelPrior().fit(X_TRAIN, DATA.Y[::2])
    with pytest.raises(ValueError, match=message):
        model_report(**{"model": model, "X": X, "Y": Y, "audit": False, **changes})
