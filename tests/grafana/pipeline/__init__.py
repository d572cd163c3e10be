"""An interpreter of what Grafana does with an alert rule: queries, expressions, states."""
