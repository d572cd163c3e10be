"""Finds, opens, unpacks and recognises log files."""
