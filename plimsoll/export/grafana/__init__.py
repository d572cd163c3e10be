"""Grafana's files (dashboards, alert rules and contact points), and the check of them."""
