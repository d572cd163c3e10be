"""The store in VictoriaMetrics: live samples there, and runs in another store beside it."""
