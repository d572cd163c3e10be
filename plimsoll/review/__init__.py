"""Judges one run: findings, statistics, coverage and the verdict. `plimsoll/report` displays them."""
