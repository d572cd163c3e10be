"""Receives line protocol from agents and metrics from exporters, and writes them to the store."""
