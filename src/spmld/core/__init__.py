"""Mathematics: terms of the objective, block updates and solvers, on NumPy and torch arrays."""
