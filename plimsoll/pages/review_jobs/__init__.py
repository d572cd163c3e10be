"""Reads, reviews and compares runs for the pages, in a separate process."""
