"""HTML representations of estimators and results in notebooks."""

from spmld import SPMLD
from spmld.metrics import evaluate
from spmld.model_selection import SearchResult, SearchTrial


def test_estimators_have_the_html_representation_of_scikit_learn():
    html = SPMLD(n_components=7)._repr_html_()
    assert "SPMLD" in html
    assert "n_components" in html


def test_a_search_result_lists_the_best_trials_first():
    result = SearchResult("macro_f1", [SearchTrial({"a": i, "b": "<x>"}, i / 10, [], 1.0) for i in range(7)])
    html = result._repr_html_()
    assert html.startswith("<p>macro_f1 over 7 trials, greater is better</p><table>")
    assert "<th>a</th><th>b</th><th>score</th>" in html
    first = html.index("<td>6</td><td>&lt;x&gt;</td><td>0.6000</td>")
    assert first < html.index("<td>5</td>")
    assert html.count("<tr>") == 6


def test_an_evaluation_is_a_table():
    html = evaluate([[1, 0], [0, 1]], predictions=[[1, 0], [1, 1]])._repr_html_()
    assert html.startswith("<table><thead><tr><th>metric</th><th>value</th>")
    assert "<td>hamming_loss</td><td>0.2500</td><td>lower</td><td>entries</td><td>4</td><td>0</td>" in html
