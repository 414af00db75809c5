"""scikit-learn's cross-validation and searches, and Optuna, with the splitters and scorers of this library."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spmld
from spmld import MaskedLogistic
from spmld.metrics import log_loss, scorer
from spmld.model_selection import MultilabelStratifiedKFold
from tests.model_selection.classifier_cases import make_data

CV = MultilabelStratifiedKFold(3, random_state=0)
GRID = {"C": [1e-4, 1.0]}


@pytest.fixture(scope="module")
def data():
    return make_data(n=180, l=3)


def test_a_search_passes_entry_weights_to_the_fit_of_each_fold(data):
    X, Y = data
    weight = np.random.default_rng(0).random(Y.shape)
    search = GridSearchCV(MaskedLogistic(), GRID, cv=CV, scoring=scorer("log_loss")).fit(X, Y, entry_weight=weight)
    assert search.best_params_ == {"C": 1.0}
    expected = []
    for train, test in CV.split(X, Y):
        model = MaskedLogistic().fit(X[train], Y[train], entry_weight=weight[train])
        expected.append(-log_loss(Y[test], model.predict_proba(X[test])))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(expected))
    np.testing.assert_allclose(search.best_estimator_.coef_, MaskedLogistic().fit(X, Y, entry_weight=weight).coef_)


def test_frames_texts_groups_and_several_metrics_are_searched(data, tmp_path):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcde"), index=[f"s{i}" for i in range(len(X))])
    labels = pd.DataFrame(Y, columns=["p", "q", "r"], index=frame.index)
    search = RandomizedSearchCV(
        make_pipeline(StandardScaler(), MaskedLogistic()),
        {"maskedlogistic__C": [0.1, 1.0, 10.0]},
        n_iter=2,
        cv=CV,
        scoring={name: scorer(name) for name in ("macro_auc", "micro_f1")},
        refit="macro_auc",
        random_state=0,
    )
    search.fit(frame, labels, groups=np.arange(len(X)) // 3)
    assert np.isfinite(search.cv_results_["mean_test_micro_f1"]).all()
    spmld.save(search, tmp_path / "search.skops")
    np.testing.assert_array_equal(spmld.load(tmp_path / "search.skops").predict(frame), search.predict(frame))
    songs = [["minor slow rain", "major fast sun"][int(x > 0)] for x in X[:, 0]]
    tags = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0]).astype(float)
    tags[::3, 0] = np.nan
    model = make_pipeline(TfidfVectorizer(), MaskedLogistic())
    assert cross_val_score(model, songs, tags, cv=CV, scoring=scorer("macro_auc")).min() == 1


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # by scikit-learn, before its error
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 3}, "Input y contains NaN"),
        ({"scoring": "ranking_loss"}, "'scoring' parameter"),
        ({"cv": MultilabelStratifiedKFold(1000)}, "n_splits must define at most 180 subsets"),
        ({"param_grid": {"C": [-1.0]}}, "'C' parameter of MaskedLogistic must be"),
    ],
)
def test_a_search_raises_for_invalid_input(data, options, message):
    arguments = {"param_grid": GRID, "cv": CV, "scoring": scorer("log_loss"), "error_score": "raise", **options}
    with pytest.raises(ValueError, match=message):
        GridSearchCV(MaskedLogistic(), **arguments).fit(*data)


def test_optuna_resumes_a_stored_study(data, tmp_path):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        model = MaskedLogistic(C=trial.suggest_float("C", 1e-4, 10, log=True))
        return cross_val_score(model, *data, cv=CV, scoring=scorer("log_loss")).mean()

    options = {"storage": f"sqlite:///{tmp_path / 'study.db'}", "study_name": "logistic", "load_if_exists": True}
    for _ in range(2):
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0), **options)
        study.optimize(objective, n_trials=2)
    assert len(study.trials) == 4
    assert study.best_value == max(trial.value for trial in study.trials)
