"""The dashboards for a Prometheus data source."""
