"""Multi-label learning when labels are missing or wrong."""

from spmld.estimators import GLOCAL, SPMLD, LabelPrior, MLkNN, PerLabelClassifier

__all__ = ["GLOCAL", "SPMLD", "LabelPrior", "MLkNN", "PerLabelClassifier", "__version__"]

__version__ = "0.1.0"
