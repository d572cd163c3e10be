"""The content of rules/exporters/*.yaml: how metrics of Prometheus and OpenTelemetry become Telegraf's series."""
