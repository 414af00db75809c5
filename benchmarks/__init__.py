"""Comparisons of speed and memory, which print ratios."""
