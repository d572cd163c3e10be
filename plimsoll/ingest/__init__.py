"""Readers of recorded logs: one for each format, chosen by the content of a file."""
