"""Section on the top features of the labels."""

from typing import Any

from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from spmld._response import as_frame
from spmld.inspection import top_features
from spmld.reports.data import ReportData
from spmld.reports.parts import Section

MAX_SAMPLES = 200
"""Maximum number of samples over which contributions are averaged."""


def features(data: ReportData) -> Section | None:
    """Return the features with the largest contributions to the scores of each label, if the model can be explained."""
    X: Any = data.X_audited
    step = -(-_num_samples(X) // MAX_SAMPLES)
    X = as_frame(data.model, _safe_indexing(X, list(range(0, _num_samples(X), step))))
    try:
        table = top_features(data.model, X, feature_names=data.feature_names).table()
    except ValueError:  # neither an ensemble nor a linear predictor
        return None
    if all(set(row[1:]) == {"-"} for row in table.rows):
        return None
    rows = [[name, *row[1:]] for name, row in zip(data.label_names, table.rows, strict=True)]
    text = (
        f"Features with the largest mean contribution to the scores of each label, on {data.audited_samples}. Of two "
        "correlated features, either may get the contribution."
    )
    return Section("features", "Top features", text, [type(table)(table.columns, rows, "Features of each label")])
