"""The dashboards as Grafana's JSON."""
