"""What the outputs use of regular spikes."""

from plimsoll.insights.beside_limits import HEADING
from plimsoll.insights.insight import Insight
from plimsoll.insights.spikes.find import periodic_spikes
from plimsoll.insights.spikes.words import told

INSIGHT = Insight("spikes", HEADING, periodic_spikes, told)
