"""What exporters of Prometheus and OpenTelemetry call the series that Telegraf records: rules/exporters/*.yaml."""
