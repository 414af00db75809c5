"""Reports: what was learned and how well, as one HTML file that needs nothing else. They need ``spmld[report]``.

Of a model: `model_report`. Of several methods on the same folds: `comparison_report`. Of a study: `study_report`.
"""

from spmld.reports.comparison import comparison_report
from spmld.reports.model import model_report
from spmld.studies.html_report import study_report

__all__ = ["comparison_report", "model_report", "study_report"]
