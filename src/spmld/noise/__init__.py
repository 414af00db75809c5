"""The noise model: likelihood of observed labels, estimate of noise rates, bounds of errors, and calibration."""

from spmld.noise.bounds import ErrorBounds, bound_errors
from spmld.noise.calibration import PooledCalibration
from spmld.noise.estimate import Curve, NoiseEstimate, estimate_noise, label_frequency
from spmld.noise.likelihood import NoiseRates, NoisyLogistic, error_log_odds

__all__ = [
    "Curve",
    "ErrorBounds",
    "NoiseEstimate",
    "NoiseRates",
    "NoisyLogistic",
    "PooledCalibration",
    "bound_errors",
    "error_log_odds",
    "estimate_noise",
    "label_frequency",
]
