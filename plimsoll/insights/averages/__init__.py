"""Averages that mislead."""
