"""The store in InfluxDB 2."""
