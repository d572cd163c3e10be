"""What the outputs use of trends."""

from plimsoll.insights.beside_limits import HEADING
from plimsoll.insights.insight import Insight
from plimsoll.insights.trends.compare import news
from plimsoll.insights.trends.find import trends
from plimsoll.insights.trends.words import ahead, doubt, step, told

INSIGHT = Insight("trends", HEADING, trends, told, news=news, ahead=ahead, step=step, doubt=doubt)
