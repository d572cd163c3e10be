"""The HTTP API for other programs, and the page that documents it."""
