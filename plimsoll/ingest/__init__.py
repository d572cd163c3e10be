"""Recorded logs: one reader per format, chosen by content."""
