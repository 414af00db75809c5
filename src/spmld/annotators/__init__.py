"""Labels of several annotators: reading answers, their consensus, and the consensus of a model."""

from spmld.annotators.answers import AnnotatorLabels, read_annotators
from spmld.annotators.consensus import Consensus, find_consensus
from spmld.annotators.mixture import fit_consensus

__all__ = ["AnnotatorLabels", "Consensus", "find_consensus", "fit_consensus", "read_annotators"]
