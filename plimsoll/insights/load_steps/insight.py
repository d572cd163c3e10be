"""What the outputs use of load steps."""

from plimsoll.insights.insight import Heading, Insight
from plimsoll.insights.load_steps.find import load_steps
from plimsoll.insights.load_steps.words import told

HEADING = Heading("load-steps", "Load steps", "Load steps", "beside")
INSIGHT = Insight("load_steps", HEADING, load_steps, told)
