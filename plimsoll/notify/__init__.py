"""Notifies people of alerts: when, whom, and in which words."""
