"""The pages of runs: their list, their reports, and comparisons."""
