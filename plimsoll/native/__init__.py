"""Builds Telegraf and InfluxDB from pinned Go modules, and runs them without Docker."""
