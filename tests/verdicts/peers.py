"""What two other ways of judging say of the same recordings: any slice over the limit, and alerts that must hold."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from .case import columns_of

_SLICES = 30
_LINUX = ("sadf", "telegraf", "node")


@cache
def _rules():
    return yaml.safe_load((Path(__file__).parent / "peers.yaml").read_text("utf-8"))


def pal(case):
    """Return whether a mean of any of 30 slices is past a limit; None of a case without counters of Windows."""
    return _judge(case, "PAL", _over_in_a_slice) if case.log["format"] not in _LINUX else None


def mixin(case):
    """Return whether an alert of the node-exporter mixin fires; None of a case without those of Linux."""
    return _judge(case, "mixin", _over_for) if case.log["format"] in _LINUX else None


def _judge(case, way, is_over):
    rng = case.rng
    for log in (case.log, *case.log["also"]):
        times, columns = columns_of(log, rng)
        for rule in _rules()[way]:
            for name in columns:
                match = re.fullmatch(rule["signal"], name)
                if match and is_over(rule, times, _values(rule, match, columns)):
                    return "not-healthy"
    return "healthy"


def _values(rule, match, columns):
    values = columns[match[0]]
    if "of" in rule:
        instance = match[1] if match.re.groups else ""
        values = 100 * values / np.sum([columns[name.replace("{}", instance)] for name in rule["of"]], axis=0)
    return values


def _is_past(rule, values):
    return values > rule["above"] if "above" in rule else values < rule["below"]


def _over_in_a_slice(rule, times, values):
    slices = np.array_split(values[~np.isnan(values)], _SLICES)
    return any(_is_past(rule, part.mean()) for part in slices if len(part))


def _over_for(rule, times, values):
    since = None
    for time, past in zip(times, _is_past(rule, values), strict=True):
        since = (time if since is None else since) if past else None
        if since is not None and time - since >= 60 * rule.get("for", 0):
            return True
    return False
