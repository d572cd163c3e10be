"""The sections of the insights, those under one heading together."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from plimsoll.charts.chart import Charts
from plimsoll.insights.insight import Heading, Section
from plimsoll.insights.insights import Insights
from plimsoll.insights.registry import insights
from plimsoll.model.times import Zone


@dataclass(frozen=True)
class Group:
    """What stands under a heading: the sections by the names of the insights, and how many more are in the JSON."""

    heading: Heading
    sections: tuple[tuple[str, Section], ...]

    @property
    def hidden(self) -> int:
        """How many more are in the JSON."""
        return sum(section.hidden for _, section in self.sections)


def insight_sections(found: Insights, charts: Charts | None, zone: Zone) -> Mapping[str, list[Group]]:
    """The groups by the place they stand at; without those that have nothing to show."""
    groups: dict[str, list[Group]] = {"causes": [], "beside": []}
    for heading, every in groupby(insights(), key=lambda one: one.heading):
        sections = ((one.name, one.section(found.review, found.of(one), charts, zone)) for one in every)
        shown = tuple((name, section) for name, section in sections if section is not None)
        if shown:
            groups[heading.place].append(Group(heading, shown))
    return groups
