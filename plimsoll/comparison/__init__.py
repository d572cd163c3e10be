"""Comparison of runs: the differences of their signals, with confidence intervals, and of their crossed limits."""
