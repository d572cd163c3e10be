"""What limits one run and did not limit another."""

from plimsoll.insights.limits.find import Limit
from plimsoll.insights.limits.words import summary


def cause(first: Limit | None, second: Limit | None) -> str:
    """What limits the second run where it did not limit the first; empty if nothing does."""
    if second is None or second.limiting is None or (first is not None and first.kind == second.kind):
        return ""
    return summary(second).replace("this run", "it")
