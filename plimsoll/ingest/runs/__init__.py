"""Loads logs into a store as runs, and reads and deletes runs."""
