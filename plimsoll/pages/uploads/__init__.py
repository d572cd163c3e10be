"""Logs that people upload, and the page of how far they are."""
