"""The store in VictoriaMetrics: live samples in the server, runs in another store beside it."""
