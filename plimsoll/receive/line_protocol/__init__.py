"""InfluxDB's line protocol, read as InfluxDB 2.7 reads it."""
