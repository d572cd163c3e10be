"""Serves HTTP: checks who sends a request and its limits, and has the endpoints to which agents write samples."""
