"""Search for the parameters of an estimator, chosen by a measure of observed labels that were held out."""

from spmld.tune.result import Trial, Tuning
from spmld.tune.search import tune

__all__ = ["Trial", "Tuning", "tune"]
