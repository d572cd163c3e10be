"""What the outputs use of what limits a run."""

from plimsoll.insights.insight import Heading, Insight
from plimsoll.insights.limits.compare import cause
from plimsoll.insights.limits.find import what_limits
from plimsoll.insights.limits.steps import step
from plimsoll.insights.limits.words import ahead, caused, doubt, short, shown, told

HEADING = Heading("limit", "What limits", "What limits", "causes")
INSIGHT = Insight(
    "limits",
    HEADING,
    what_limits,
    told,
    cause=cause,
    summary=caused,
    doubt=doubt,
    short=short,
    ahead=ahead,
    shown=shown,
    step=step,
)
