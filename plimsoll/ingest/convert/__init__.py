"""Writes logs in other formats."""
