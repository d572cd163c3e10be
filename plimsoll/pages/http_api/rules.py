"""Operations on rules: their explanation, and a preview of a changed limit."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.json_part import Instant, JsonPart, read_attribute
from plimsoll.model.times import SECOND
from plimsoll.pages.http_api.operation import ApiFault, Operation, RangeQuery, WatchedDependency
from plimsoll.pages.rules.routes import preview_rule
from plimsoll.report.rule_page import explain
from plimsoll.rules.schema.pack import Rule
from plimsoll.up.watched import Watched

router = APIRouter(route_class=Operation)
RuleId = Annotated[str, Path(description="The id of the rule.", max_length=300)]


class ApiRule(JsonPart):
    """A rule and its explanation."""

    id: str
    text: str = Field(description="What is counted, the limit, the reason, and the documents, in Markdown.")


class ApiFirings(JsonPart):
    """The number of alerts of a limit, and the hours for which it fired."""

    limit: str
    alerts: int
    hours: float = Field(description="For how long it fired, all hosts added up.")
    hosts: Mapping[str, float] = Field(description="The hours of each host.")
    strip: Sequence[float] = Field(description="The hours in each part of the range.")


class ApiPreview(JsonPart):
    """How often a rule fired with the limit of today, and would have fired with a changed limit."""

    rule: str = read_attribute("rule.id")
    start: Instant
    end: Instant
    part_s: float = read_attribute(lambda shown: shown.part / SECOND, "The length of a part of the strips, in seconds.")
    today: ApiFirings
    changed: ApiFirings | None


class PreviewQuery(RangeQuery):
    """The limit to preview, how long it must be crossed, the host, and the range of time."""

    start: str = Field(default="now-30d", alias="from", max_length=40, description="From when.")
    healthy: str = Field(default="", max_length=60, description="The limit, as it is healthy: `< 90 %`.")
    length: str = Field(default="", alias="for", max_length=20, description="How long it must be crossed: `10m`.")
    host: str = Field(default="*", max_length=300, description="Only on this host; `*` is any text.")


@router.get("/rules/{rule}", operation_id="rule")
def show_rule(rule: RuleId, watched: WatchedDependency) -> ApiRule:
    """Explain a rule."""
    documented, catalogue = _find_rule(rule, watched), watched.site.catalogue
    pack = next(pack for pack in catalogue.packs if documented in pack.rules)
    return ApiRule(id=documented.id, text=explain(documented, pack, catalogue.signals))


@router.get("/rules/{rule}/preview", operation_id="preview")
def show_preview(rule: RuleId, query: Annotated[PreviewQuery, Query()], watched: WatchedDependency) -> ApiPreview:
    """Return how often a limit would have fired on the stored samples."""
    documented, now = _find_rule(rule, watched), watched.progress().evaluated
    if now is None:
        raise ApiFault(HTTPStatus.CONFLICT, "nothing was judged yet", hint="ask again in a minute")
    try:
        values = {"healthy": query.healthy, "for": query.length}
        return ApiPreview.model_validate(preview_rule(watched, documented, values, *query.range(now), query.host))
    except Unusable as error:
        raise ApiFault(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), "healthy") from None


def _find_rule(name: str, watched: Watched) -> Rule:
    rules = watched.site.catalogue.rules
    if name not in rules:
        raise ApiFault(HTTPStatus.NOT_FOUND, f"no rule {name}{suggest(name, [*rules])}", "rule")
    return rules[name]
