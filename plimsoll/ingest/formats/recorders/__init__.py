"""Recorders of Unix hosts other than sar: a reader for each, and a table of what its columns mean."""
