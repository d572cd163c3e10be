"""The fixtures of a simulated book of alerts."""

from tests.alerting.world import file, phone, world

__all__ = ["file", "phone", "world"]
