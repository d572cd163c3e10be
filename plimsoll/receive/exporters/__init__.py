"""Takes metrics of Prometheus and OpenTelemetry, and gives them the names that Telegraf gives."""
