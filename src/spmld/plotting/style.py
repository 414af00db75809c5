"""Colors and labels shared by all plots."""

# Okabe-Ito colors, which remain distinguishable with color blindness, followed by gray and brown.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#8C564B", "#000000", "#BCBD22")
HIGHLIGHT = "#D55E00"


def metric_label(name: str) -> str:
    """Return the name of a metric as text for axes, headings and sentences.

    Examples
    --------
    >>> from spmld.plotting.style import metric_label
    >>> metric_label("macro_auc")
    'macro AUC'
    """
    return name.replace("_", " ").replace("auc", "AUC").replace("f1", "F1")
