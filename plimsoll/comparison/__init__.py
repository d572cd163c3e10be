"""Comparison of runs: the differences of their signals, with confidence intervals, and of the limits they crossed."""
