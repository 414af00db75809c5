"""The noise model: likelihood of observed labels, estimate of noise rates, bounds of errors, and calibration."""

from spmld.noise.calibration import PooledCalibration
from spmld.noise.estimate import NoiseEstimate, estimate_noise, identify_noise
from spmld.noise.likelihood import NoiseRates

__all__ = [
    "NoiseEstimate",
    "NoiseRates",
    "PooledCalibration",
    "estimate_noise",
    "identify_noise",
]
