"""Reads, reviews and compares runs for the pages, in a process of its own."""
