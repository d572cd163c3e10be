"""Judges one run: findings, statistics, coverage and the verdict. What is shown of them is made in `report`."""
