"""Alerts of live data: the loop that evaluates rules, the states of alerts, and their history."""
