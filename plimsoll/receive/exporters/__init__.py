"""Receives metrics of Prometheus and OpenTelemetry, and translates them to Telegraf's names."""
