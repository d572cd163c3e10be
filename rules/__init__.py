"""Signals, packs of rules, and what a rule means: the thresholds, written down once."""
