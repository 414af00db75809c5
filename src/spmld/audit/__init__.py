"""Label audit: error probabilities of observed labels and noise rates."""

from spmld.audit.find import find_label_issues
from spmld.audit.issues import LabelIssues

__all__ = ["LabelIssues", "find_label_issues"]
