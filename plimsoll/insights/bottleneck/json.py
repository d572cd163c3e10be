"""The bottleneck of a run, as JSON."""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Literal

from pydantic import Field

from plimsoll.insights.bottleneck.find import Bottleneck
from plimsoll.insights.bottleneck.insight import summarize_bottleneck
from plimsoll.insights.bottleneck.reasons import Sentence, list_sentences
from plimsoll.insights.bottleneck.resource_use import ResourceUse
from plimsoll.insights.insights import JsonField
from plimsoll.model.json_part import Finite, Instant, JsonPart, add_values, make_optional_getter, read_attribute


def _add_phase(parts: Iterable[Sentence | ResourceUse], bottleneck: Bottleneck) -> list[Any]:
    """Return the sentences or resources with the phase of the highest load added to their figures."""
    phase = bottleneck.evidence.phase
    return [add_values(part, figures=[add_values(figure, phase=phase) for figure in part.figures]) for part in parts]


class LimitFigurePart(JsonPart):
    """A value that a sentence rests on: the median, at the highest load, of means over equal parts of the run."""

    signal: str = Field(description="A signal, or the path of a counter that no signal uses.")
    title: str
    host: str = read_attribute("subject.host")
    instance: str | None = read_attribute("subject.instance")
    phase: str | None = Field(description="The phase that most of the highest load is in; null if that is not known.")
    value: float
    at_low_load: Finite = read_attribute(
        "before", "The same at no more than half of the highest load, if there was one."
    )
    unit: str
    limit: float | None = Field(
        description="The limit it was compared with, from which it is near its capacity; null if there is none."
    )
    document: str | None = Field(description='The document of the limit; "our choice" if no document gives one.')


class TimePart(JsonPart):
    """A part of the run."""

    start: Instant = read_attribute(itemgetter(0))
    end: Instant = read_attribute(itemgetter(1))


class LimitSentencePart(JsonPart):
    """A sentence, and the figures it rests on."""

    text: str
    figures: list[LimitFigurePart]


class StandingPart(JsonPart):
    """How near a resource of a host was to its capacity."""

    resource: Literal["cpu", "disk", "memory", "network"]
    host: str
    state: Literal["not-recorded", "unclear", "room", "high", "near", "full"] = read_attribute(
        lambda use: use.state.name.lower().replace("_", "-"),
        "unclear: the recorded counters do not tell; high: not near its capacity, and not far from it.",
    )
    figures: list[LimitFigurePart] = Field(description="The figures of its busiest instance, the most telling first.")
    needed: str | None = read_attribute(
        lambda use: use.needed or None, "The counters that would tell, if these were not recorded."
    )


class LoadResponsePart(JsonPart):
    """The load of the run, and whether the work that was done followed it."""

    offered: str | None = read_attribute(
        make_optional_getter("offered.name"),
        "The signal of the load that was put on; null if it is not recorded or constant.",
    )
    work: str | None = read_attribute(make_optional_getter("work.name"), "The signal of the work that was done.")
    follows: bool | None = Field(description="Whether the work followed the load up to the highest; null if unknown.")
    elasticity: float | None = read_attribute(
        make_optional_getter("response.elasticity"),
        "Growth of the work for each growth of the load, near the highest: 1 follows, 0 is flat.",
    )


class LimitPart(JsonPart):
    """The bottleneck of the run. If it is certainly a resource, the verdict is not Healthy."""

    kind: Literal["cpu", "disk", "memory", "network", "queue", "load", "unknown"] = Field(
        description="A resource; queue: the software or something that is not recorded, while the resources have "
        "room (never confident); load: nothing recorded limits the run, and if confident, the load was "
        "too small to reach a limit; unknown: it cannot be told."
    )
    confident: bool = Field(description="Whether the figures exclude all other explanations that were looked for.")
    host: str | None = Field(description="The host of the bottleneck; null if there is none.")
    instance: str | None = Field(description="The disk, adapter, processor or process that is the bottleneck.")
    summary: str = read_attribute(summarize_bottleneck)
    sentences: list[LimitSentencePart] = read_attribute(
        lambda bottleneck: _add_phase(list_sentences(bottleneck), bottleneck), "The summary, then the reasons."
    )
    resources: list[StandingPart] = read_attribute(
        lambda bottleneck: _add_phase(bottleneck.evidence.resources, bottleneck),
        "Every resource of every host: what was ruled out, and what was not.",
    )
    load: LoadResponsePart = read_attribute("evidence.load")
    spans: list[TimePart] = read_attribute("evidence.spans", "The times of the highest load, which the figures are of.")


FIELD = JsonField("limit", LimitPart | None, "Null if the logs have no samples.")
