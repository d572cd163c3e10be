"""What the outputs use of averages that mislead."""

from plimsoll.insights.averages.find import misleading_averages
from plimsoll.insights.averages.words import told
from plimsoll.insights.beside_limits import HEADING
from plimsoll.insights.insight import Insight

INSIGHT = Insight("averages", HEADING, misleading_averages, told)
