"""Profiles of users: what users do and how often; for the systems of the studies, also the costs of operations."""
