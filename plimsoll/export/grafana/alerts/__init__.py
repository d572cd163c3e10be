"""Rules as Grafana's provisioned alert rules."""
