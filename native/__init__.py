"""The real Telegraf and InfluxDB, built from pinned Go modules and run where there is no Docker."""
