"""Serves HTTP: identifies senders, limits requests, and has the endpoints to which agents write samples."""
