"""The pages of `plimsoll up`: health, dashboards, alerts, rules and runs."""
