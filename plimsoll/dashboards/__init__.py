"""The dashboards in areas.yaml, and the limits that their panels draw; grafana/ exports them."""
