"""Finds hosts, signals, runs and rules by their names, from every page."""
