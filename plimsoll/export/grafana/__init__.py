"""Grafana's files: dashboards, alert rules and contact points, and their check."""
