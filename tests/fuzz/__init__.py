"""Fuzzing of readers, the model loader and estimators with seeded random input.

``make fuzz MINUTES=10`` runs until the time is over. Inputs that end a process, hang, take too much memory, raise an
undocumented exception or produce NaN are written to ``tests/fuzz/corpus``, whose files are tested from then on.
"""
