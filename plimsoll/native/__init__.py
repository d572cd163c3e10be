"""Builds Telegraf, InfluxDB, VictoriaMetrics and promtool from pinned Go modules; runs Telegraf and InfluxDB."""
