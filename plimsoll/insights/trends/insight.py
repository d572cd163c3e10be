"""What the outputs use of trends."""

from plimsoll.insights.beside_limits import HEADING
from plimsoll.insights.insight import Insight
from plimsoll.insights.trends.compare import news
from plimsoll.insights.trends.find import trends
from plimsoll.insights.trends.html import section
from plimsoll.insights.trends.json import FIELD
from plimsoll.insights.trends.words import ahead, told

INSIGHT = Insight("trends", HEADING, trends, told, FIELD, section, news=news, ahead=ahead)
