"""Recorders of Unix hosts other than sar: a reader for each, and a table of the series of its columns."""
