"""An interpreter of Grafana's alert rules: queries, expressions, states."""
