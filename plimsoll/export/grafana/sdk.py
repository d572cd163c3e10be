"""Imports Grafana's Foundation SDK without its deprecation warnings: provisioning accepts only the classic format."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.cog.variants import Dataquery
    from grafana_foundation_sdk.models import common, dashboard, stat, table, text, timeseries

__all__ = [
    "Dataquery",
    "JSONEncoder",
    "common",
    "dashboard",
    "register_default_plugins",
    "stat",
    "table",
    "text",
    "timeseries",
]
