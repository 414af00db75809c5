"""HTML representations of estimators and results in notebooks."""

from spmld import SPMLD
from spmld.metrics import evaluate


def test_estimators_have_the_html_representation_of_scikit_learn():
    html = SPMLD(n_components=7)._repr_html_()
    assert "SPMLD" in html
    assert "n_components" in html


def test_an_evaluation_is_a_table():
    html = evaluate([[1, 0], [0, 1]], predictions=[[1, 0], [1, 1]])._repr_html_()
    assert html.startswith("<table><thead><tr><th>metric</th><th>value</th>")
    assert "<td>hamming_loss</td><td>0.2500</td><td>lower</td><td>entries</td><td>4</td><td>0</td>" in html
