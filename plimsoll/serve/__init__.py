"""Serves HTTP: checks the sender and the limits of requests, and has the endpoints to which agents write samples."""
