"""The audit: which of the labels that were given are likely to be wrong, and how often labels are."""

from spmld.audit.find import find_label_issues
from spmld.audit.issues import LabelIssues

__all__ = ["LabelIssues", "find_label_issues"]
