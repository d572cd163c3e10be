"""The metrics of Prometheus and OpenTelemetry exporters that give the series of Telegraf: rules/exporters/*.yaml."""
