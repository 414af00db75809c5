"""A few hundred cases of the fuzzers with a fixed seed, and the files of the corpus."""

import sys

import numpy as np
import pytest

from spmld import MaskedLogistic
from tests.fuzz.estimators import fit_problem, not_finite
from tests.fuzz.readers import fuzz_readers, replay_corpus
from tests.fuzz.review import ReviewFuzzer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits of the worker need Unix")


def test_mutated_files_raise_documented_errors(tmp_path):
    assert fuzz_readers(tmp_path, 0, 0, 100) == (100, [])


def test_files_that_once_failed_raise_documented_errors(tmp_path):
    assert replay_corpus(tmp_path) == []


def test_fits_to_random_input_have_finite_scores():
    assert [problem for index in range(100) if (problem := fit_problem(0, index))] == []


def test_hostile_requests_to_reviews_print_nothing_and_lose_no_annotation(tmp_path, capfd):
    assert ReviewFuzzer(tmp_path, 0).run(80) == []
    assert capfd.readouterr() == ("", "")


def test_attributes_that_are_not_finite_are_detected():
    model = MaskedLogistic().fit(np.eye(3), np.eye(3))
    assert not_finite(model) == []
    model.coef_[0, 1], model.parts_ = np.inf, [{"threshold": np.inf}, {"loss": np.nan}]
    assert not_finite(model) == [".coef_", ".parts_.1.loss"]


def test_steps_in_rounding_errors_leave_scores_finite():
    """Five samples, fifty features of 1e4 and weights from 1e-15 to 1e11 in single precision."""
    assert fit_problem(11, 333) is None
