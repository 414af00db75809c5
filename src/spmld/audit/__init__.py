"""Label audit: observed labels that models contradict, and the number of errors that the features could reveal."""

from spmld.audit.find import find_label_issues
from spmld.audit.from_scores import label_issues
from spmld.audit.issues import ErrorEstimate, LabelIssues

__all__ = ["ErrorEstimate", "LabelIssues", "find_label_issues", "label_issues"]
