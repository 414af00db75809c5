"""Tests of statements in docs/extend.md about its code. test_docs.py runs the code and its assertions."""

import re
from pathlib import Path

import pytest
import torch
from sklearn.utils.estimator_checks import check_estimator

PAGE = (Path(__file__).parents[1] / "docs" / "extend.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def load_block(tmp_path, monkeypatch):
    """Return a function that imports a block as a module, so that its classes can be pickled."""

    def load(number, name):
        (tmp_path / f"{name}.py").write_text(BLOCKS[number], encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return __import__(name)

    return load


@pytest.mark.parametrize(("number", "name"), [(0, "EntropyPacing"), (1, "NearestCentroid")])
def test_pacing_rule_and_estimator_have_fewer_than_60_lines(number, name):
    assert f"class {name}(" in BLOCKS[number]
    assert len(BLOCKS[number].splitlines()) < 60


def test_estimator_passes_scikit_learn_checks(load_block):
    check_estimator(load_block(1, "estimator_of_the_docs").NearestCentroid())


def test_pacing_rule_works_with_torch(load_block):
    module = load_block(0, "pacing_rule_of_the_docs")
    rule, losses = module.EntropyPacing(), torch.tensor([[0.0, 1.0], [2.0, torch.nan]], dtype=torch.float64)
    expected, weights = (rule.weights(L, 2.0) for L in (losses.numpy(), losses))
    assert weights.numpy() == pytest.approx(expected)
    assert float(rule.penalty(weights, 2.0)) == pytest.approx(rule.penalty(expected, 2.0))
