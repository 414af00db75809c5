"""Benchmarks of speed, memory and predictive quality."""
