"""The dashboards in areas.yaml, and the limits that their panels draw; `plimsoll/export/grafana` exports them."""
