"""GridSearchCV and RandomizedSearchCV: scikit-learn's results, with names of metrics and missing labels."""

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spmld
from spmld import MaskedLogistic
from spmld.metrics import scorer
from spmld.model_selection import GridSearchCV, MultilabelStratifiedKFold, RandomizedSearchCV
from tests.model_selection.classifier_cases import make_data

GRID = {"C": [1e-4, 0.1, 10.0]}


@pytest.fixture(scope="module")
def data():
    return make_data(n=240, l=3)


def test_the_result_is_that_of_scikit_learn_with_a_splitter_and_a_scorer(data):
    folds = MultilabelStratifiedKFold(4, random_state=0)
    ours = GridSearchCV(MaskedLogistic(), GRID, cv=4, scoring="log_loss").fit(*data)
    theirs = model_selection.GridSearchCV(MaskedLogistic(), GRID, cv=folds, scoring=scorer("log_loss")).fit(*data)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_ != {"C": 1e-4}
    assert ours.score(*data) == pytest.approx(theirs.score(*data))
    assert (ours.cv, ours.scoring) == (4, "log_loss")
    again = clone(ours).fit(*data)
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"])


def test_several_metrics_pipelines_and_random_candidates(data, tmp_path):
    pipeline = make_pipeline(StandardScaler(), MaskedLogistic())
    search = RandomizedSearchCV(
        pipeline,
        {"maskedlogistic__C": [0.1, 1.0, 10.0]},
        n_iter=2,
        scoring=["macro_auc", "micro_f1"],
        refit="macro_auc",
        random_state=0,
    )
    search.fit(*data)
    assert {"mean_test_macro_auc", "mean_test_micro_f1", "split4_test_micro_f1"} <= set(search.cv_results_)
    spmld.save(search, tmp_path / "search.skops")
    np.testing.assert_array_equal(spmld.load(tmp_path / "search.skops").predict(data[0]), search.predict(data[0]))


def test_estimators_of_scikit_learn_are_searched_without_missing_labels(data):
    X, Y = data[0], np.nan_to_num(data[1]).astype(int)
    estimator = MultiOutputClassifier(LogisticRegression())
    search = GridSearchCV(estimator, {"estimator__C": [0.1, 1.0]}, cv=3, scoring="f1_macro").fit(X, Y)
    assert 0 < search.best_score_ <= 1
    assert GridSearchCV(estimator, {"estimator__C": [0.1]}, cv=2).fit(X, Y).best_score_ > 0


def test_settings_are_kept_if_the_fit_fails(data):
    search = GridSearchCV(MaskedLogistic(), {"C": [-1.0]}, cv=3, scoring="log_loss", error_score="raise")
    with pytest.raises(ValueError, match="'C' parameter"):
        search.fit(*data)
    assert (search.cv, search.scoring) == (3, "log_loss")
    search = GridSearchCV(MaskedLogistic(), GRID, cv=3, scoring="accurracy")
    with pytest.raises(ValueError, match="metric must be one of"):
        search.fit(*data)
    assert (search.cv, search.scoring) == (3, "accurracy")
    groups = np.arange(len(data[0])) // 4
    assert GridSearchCV(MaskedLogistic(), {"C": [1.0]}, cv=3).fit(*data, groups=groups).n_splits_ == 3
