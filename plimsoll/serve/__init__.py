"""Serves HTTP: who may ask, within which limits, and the write endpoint."""
