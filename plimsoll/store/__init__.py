"""Stores of series and runs: the Store protocol and its implementations."""
