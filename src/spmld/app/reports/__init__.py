"""HTML reports on a model and its monitoring, one self-contained file each: ``pip install "spmld[report]"``."""

from spmld.app.reports.model import model_report
from spmld.app.reports.monitoring import monitoring_report

__all__ = ["model_report", "monitoring_report"]
