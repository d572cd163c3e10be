"""Uploaded logs, and the page with their progress."""
