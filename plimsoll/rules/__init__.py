"""Signals, packs of rules, and the evaluation of rules."""
