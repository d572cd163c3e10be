"""Conversion of logs to other formats."""
