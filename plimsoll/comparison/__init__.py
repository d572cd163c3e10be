"""How runs differ: signal by signal, with confidence intervals, and in what they crossed."""
