"""Alerts of live data: the loop, the judging, and the book that keeps what happened."""
