"""Studies with candidate labels and with single positives: data, runs, tables and reports."""

import numpy as np
import pytest
import scipy.io

from spmld.datasets import make_planted
from studies import data
from studies.comparison import compare_methods
from studies.config import StudyError
from studies.records import read_records
from studies.report import write_report
from studies.runner import run_study
from studies.tests.cases import comparable, linear, make
from studies.trial import Trial, attempt


@pytest.fixture
def tiny_candidates(tmp_path, monkeypatch):
    """A data set "tiny" with candidate labels in SPMLD_DATA."""
    planted = make_planted(n_samples=120, n_features=6, n_labels=5, random_state=1)
    wrong = np.random.RandomState(0).uniform(size=planted.Y.shape) < 0.3
    content = {"data": planted.X, "partial_labels": np.maximum(planted.Y, wrong).T, "target": planted.Y.T}
    scipy.io.savemat(tmp_path / "Tiny.mat", content)
    monkeypatch.setenv("SPMLD_DATA", str(tmp_path))
    monkeypatch.setitem(data.CANDIDATE_DATA, "tiny", "Tiny.mat")
    data.load.cache_clear()
    yield content
    data.load.cache_clear()


def test_test_folds_are_a_partition(tiny_candidates):
    folds = [data.load("tiny", fold) for fold in range(10)]
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.test for fold in folds])), np.arange(120))
    for fold in folds:
        np.testing.assert_array_equal(np.union1d(fold.train, fold.test), np.arange(120))
        np.testing.assert_array_equal(fold.candidates_train, tiny_candidates["partial_labels"].T[fold.train])
        np.testing.assert_array_equal(fold.Y_test, tiny_candidates["target"].T[fold.test])
    np.testing.assert_array_equal(data.load("tiny", 1003).test, folds[3].test)


def test_a_missing_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SPMLD_DATA", str(tmp_path))
    data.load.cache_clear()
    with pytest.raises(StudyError, match=r"data set mirflickr: cannot find mirflickr\.mat in SPMLD_DATA="):
        run_study(make(data=["mirflickr"]), tmp_path / "r.jsonl")


def candidate_study():
    methods = [
        linear("ours", search={"ridge": [1.0, 10.0]}, trusted=30),
        linear("ours without", search={"ridge": [1.0, 10.0]}),
        linear("other", search={"ridge": [1.0, 100.0]}),
        linear("clean", search={"ridge": [1.0, 100.0]}, oracle=True),
    ]
    parts = {"data": ["tiny"], "observed": [1.0], "seeds": list(range(10)), "standardize": ["tiny"]}
    return make(**parts, methods=methods, metrics=["sample_auc", "ranking_loss"], reference="ours without")


def single_study():
    methods = [linear("ours"), linear("other", search={"ridge": [1.0, 100.0]}), linear("noisy", fixed={"noise": 1.0})]
    methods.append(linear("all", search={"ridge": [1.0, 100.0]}, oracle=True))
    return make(hiding="single_positive", observed=[1.0], methods=methods, reference="ours", metrics=["sample_auc"])


@pytest.mark.parametrize(("make_study", "phrase"), [(candidate_study, "100%"), (single_study, "one positive")])
def test_from_run_to_report(make_study, phrase, tiny_candidates, tmp_path):
    study, file = make_study(), tmp_path / "records.jsonl.xz"
    outcome = run_study(study, file)
    assert not outcome.failed
    assert run_study(study, file).done == 0
    records = read_records(file)
    assert records.study("tiny") == study
    comparison = compare_methods(study, records)
    assert f"| {study.data[0]} | {phrase} |" in comparison.markdown()
    assert "of the gap" in comparison.brief()
    write_report(records, tmp_path / "report")
    assert f"| {phrase} |" in (tmp_path / "report" / f"table_{study.data[0]}.md").read_text()
    for record in records.trials.values():
        assert attempt(Trial.from_dict(record["trial"]))["metrics"] == record["metrics"]


def test_an_interrupted_study_is_resumed(tiny_candidates, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    run_study(candidate_study(), whole)

    def interrupt(trials, records):
        for number, record in enumerate(records):
            if number == 5:
                raise KeyboardInterrupt
            yield record

    with pytest.raises(KeyboardInterrupt):
        run_study(candidate_study(), parts, progress=interrupt)
    run_study(candidate_study(), parts)
    assert comparable(parts) == comparable(whole)


def test_methods_with_verified_samples_are_compared_with_each_other(tiny_candidates, tmp_path):
    study = candidate_study()
    run_study(study, tmp_path / "r.jsonl")
    records = read_records(tmp_path / "r.jsonl")
    assert compare_methods(study, records).competitors == ("other",)
    assert list(compare_methods(study, records).oracle_gains()) == [("other", "clean")]
    assert compare_methods(study, records, reference="ours").competitors == ()
    assert compare_methods(study, records, reference="ours", competitors=["other"]).competitors == ("other",)


@pytest.mark.parametrize(
    ("name", "wrong", "without"), [("mirflickr", 0.472, 0), ("yeastbp", 0.066, 1882), ("yeastmf", 0.037, 3545)]
)
def test_statistics_of_the_real_data_sets(name, wrong, without):
    try:
        dataset = data.load(name)
    except FileNotFoundError as error:
        pytest.skip(f"real data: {error}")
    assert not ((dataset.candidates == 0) & (dataset.Y == 1)).any()  # every true label is a candidate
    assert 1 - dataset.Y.sum() / dataset.candidates.sum() == pytest.approx(wrong, abs=6e-4)
    assert (dataset.Y.sum(axis=1) == 0).sum() == without
