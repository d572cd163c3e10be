"""Reads samples from the servers of other programs (Prometheus, InfluxDB), under the names used there."""
