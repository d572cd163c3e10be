"""Checks of provisioning files, for what Grafana itself would ignore or not start with."""
