"""Dashboards and alert rules defined once over signals and rules, and their export to Grafana."""
