"""Profiles of users: what they do, how often, and for the systems of the studies also what it costs."""
