"""What the first screen says beyond the verdict."""

from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.api.run_review import Options, review_inputs
from plimsoll.insights.insights import Insights
from plimsoll.report.first_screen import first_screen

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_what_to_look_at_is_of_the_cause_before_it_is_of_the_worst_crossing():
    """A file system is full, but memory limits: its signals come first."""
    insights = Insights(review_inputs(Inputs((str(EXAMPLES / "linux-today" / "trouble"),)), Options()))
    assert insights.review.headline.startswith("Not healthy. Free space of web01")
    first = first_screen(insights)
    assert first.cause.startswith("Too little memory on web01 limits")
    assert first.next.startswith("Pages swapped out, ")
    assert "Free space in bytes" in first.next
