"""Comparisons of speed and quality, each run as ``python -m benchmarks.<name>``."""
