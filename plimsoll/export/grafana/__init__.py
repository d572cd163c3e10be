"""Grafana's files (dashboards, alert rules, contact points), and the check of these files."""
