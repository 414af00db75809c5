"""What estimators and results show of themselves in a notebook."""

from spmld import SPMLD
from spmld.model_selection import SearchResult, SearchTrial


def test_estimators_show_themselves_as_those_of_scikit_learn_do():
    html = SPMLD(n_components=7)._repr_html_()
    assert "SPMLD" in html
    assert "n_components" in html


def test_a_search_shows_its_best_trials_first():
    found = SearchResult("macro_f1", [SearchTrial({"a": i, "b": "<x>"}, i / 10, [], 1.0) for i in range(7)])
    html = found._repr_html_()
    assert html.startswith("<p>macro_f1 over 7 trials, greater is better</p><table>")
    assert "<th>a</th><th>b</th><th>score</th>" in html
    first = html.index("<td>6</td><td>&lt;x&gt;</td><td>0.6000</td>")
    assert first < html.index("<td>5</td>")
    assert html.count("<tr>") == 6
