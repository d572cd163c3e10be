"""Comparisons of simulated runs."""

from functools import cache
from pathlib import Path

from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.signal_settings import check_settings
from plimsoll.hosts.settings import Settings
from plimsoll.insights.insights import Insights
from plimsoll.rules.load import load_signals
from tests.simulators.web_and_sql import a_review


def against(baselines, second):
    """A run compared with baselines, the last of which is the one to show."""
    return Comparison(baselines[-1], second, _treatments(), earlier=tuple(baselines[:-1]))


@cache
def a_side(name, build, seed, values=None):
    """A run of a build. `values` may change its columns."""
    return RunSide(name, name, Insights(a_review(build, seed, more=values)))


@cache
def _treatments():
    return check_settings(Settings().compare, Path("plimsoll.toml"), load_signals())
