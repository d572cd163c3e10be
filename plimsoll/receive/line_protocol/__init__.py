"""A parser of InfluxDB's line protocol that accepts what InfluxDB 2.7 accepts."""
