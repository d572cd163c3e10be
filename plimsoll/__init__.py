"""Plimsoll's command line."""
