"""Methods that find label errors: the audit, and cleanlab with the same probabilities."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels
from studies.methods import Audit, Cleanlab, label_quality

DATA = make_planted(n_samples=200, n_labels=5, random_state=0)
Y = hide_labels(corrupt_labels(DATA.Y, "flip", 0.05, random_state=0), 0.8, random_state=0)


def test_audit_returns_the_scores_of_find_label_issues():
    expected = -find_label_issues(None, DATA.X, Y, random_state=3).quality_log_odds
    np.testing.assert_array_equal(Audit(random_state=3).error_scores(DATA.X, Y), expected)
    assert np.nanmax(np.abs(Audit(random_state=4).error_scores(DATA.X, Y) - expected)) > 0


def test_cleanlab_scores_the_observed_samples_of_each_class():
    pytest.importorskip("cleanlab", reason="needs cleanlab: pip install --group bench")
    p = find_label_issues(None, DATA.X, Y, random_state=3).probabilities
    confidence = np.where(Y == 1, p, 1 - p)
    scores = Cleanlab(random_state=3).error_scores(DATA.X, Y)
    np.testing.assert_array_equal(np.isnan(scores), np.isnan(Y))
    observed = ~np.isnan(Y)
    np.testing.assert_allclose(scores[observed], -confidence[observed])
    adjusted = Cleanlab(adjust=True, random_state=3).error_scores(DATA.X, Y)
    assert np.abs(adjusted - scores)[observed].max() > 0.01


def test_a_class_without_a_positive_is_scored_by_its_probability():
    pytest.importorskip("cleanlab", reason="needs cleanlab: pip install --group bench")
    labels = np.where(np.arange(5) == 2, 0.0, Y)
    scores = Cleanlab().error_scores(DATA.X, labels)
    p = find_label_issues(None, DATA.X, labels, random_state=0).probabilities
    np.testing.assert_allclose(scores[:, 2], p[:, 2] - 1)


def test_cleanlab_is_called_for_each_class_with_its_observed_samples(monkeypatch):
    calls = []

    def scores_per_class(labels, probabilities, *, method, adjust_pred_probs):
        calls.append((method, adjust_pred_probs))
        positive = np.array([bool(label) for label in labels])[:, None]
        return np.where(positive, probabilities, 1 - probabilities)

    rank = SimpleNamespace(get_label_quality_scores_per_class=scores_per_class)
    monkeypatch.setitem(sys.modules, "cleanlab.multilabel_classification.rank", rank)
    signs = np.array([[1, -1, 1], [-1, -1, 0], [0, -1, 1]])
    p = np.array([[0.9, 0.2, 0.7], [0.4, 0.1, 0.5], [0.3, 0.6, 0.8]])
    issues = SimpleNamespace(signs=signs, probabilities=p)
    quality = label_quality(issues, "normalized_margin", adjust=True)
    np.testing.assert_allclose(quality, [[0.9, 0.8, 0.7], [0.6, 0.9, np.nan], [np.nan, 0.4, 0.8]])
    assert calls == [("normalized_margin", True)]  # of the first class; the others have one value
    model = Cleanlab(method="normalized_margin", adjust=True)
    monkeypatch.setattr(model, "issues", lambda X, Y: issues)
    np.testing.assert_allclose(model.error_scores(None, None), -quality)
