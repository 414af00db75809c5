"""HTML reports on models and comparisons, one self-contained file each: ``pip install "spmld[report]"``."""

from spmld.reports.comparison import comparison_report
from spmld.reports.model import model_report

__all__ = ["comparison_report", "model_report"]
