"""Rules as files for Prometheus, Mimir and VictoriaMetrics, their unit tests, and the check of these files."""
