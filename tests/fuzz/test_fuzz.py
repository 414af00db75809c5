"""A few hundred cases of the fuzzers with a fixed seed, and the files of the corpus."""

import sys

import pytest

from tests.fuzz.estimators import fit_problem
from tests.fuzz.readers import fuzz_readers, replay_corpus

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limits of the worker need Unix")


def test_mutated_files_raise_documented_errors(tmp_path):
    assert fuzz_readers(tmp_path, 0, 0, 200) == []


def test_files_that_once_failed_raise_documented_errors(tmp_path):
    assert replay_corpus(tmp_path) == []


def test_fits_to_random_input_have_finite_scores():
    assert [problem for index in range(200) if (problem := fit_problem(0, index))] == []
