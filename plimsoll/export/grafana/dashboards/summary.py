"""The top of the Health dashboard: how many limits were crossed, and which ones the most.

Its panels show the data of the panel with the distance to the limits, so they need no queries.
"""

from collections.abc import Sequence

from plimsoll.export.grafana.dashboards import distance_to_limits, panels, targets
from plimsoll.export.grafana.look import load_look
from plimsoll.export.grafana.sdk import common, dashboard, stat

_SENTENCE = "${__data.fields.Host}: ${__data.fields.Limit}"
_FIRST = 7  # the id of the first panel
_WIDTH = 4  # of a count
_NAMED = 3  # of the limits crossed the most


def panels_of(number: int, at: dashboard.GridPos) -> list[dashboard.Panel]:
    """Return the panels over the data of the panel with this number."""
    look = load_look().severities
    counted = [("Critical limits crossed", distance_to_limits.CRITICAL, look["critical"])]
    counted.append(("Warning limits crossed", distance_to_limits.WARNING, look["warning"]))
    made = [_count(title, ranges, color) for title, ranges, color in counted]
    made.append(_worst())
    for index, panel in enumerate(made):
        width = _WIDTH if index < len(counted) else at.w - _WIDTH * len(counted)
        panel.grid_pos = dashboard.GridPos(at.h, width, at.x + _WIDTH * index, at.y)
        panel.id_val = _FIRST + index
        panel.datasource, panel.targets = targets.SHARED, [targets.SharedQuery("A", number, transformed=True)]
    return made


def _count(title: str, ranges: Sequence[distance_to_limits.Range], color: str) -> dashboard.Panel:
    none = dashboard.ValueMap({"0": dashboard.ValueMappingResult(text="none", color="text")})
    return dashboard.Panel(
        "stat",
        title=title,
        description="How many limits were crossed, counted by host and instance.",
        transformations=[_crossed(ranges)],
        options=_options(common.ReduceDataOptions(calcs=["count"], fields="/^State$/"), common.BigValueTextMode.VALUE),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(unit="none", no_value="none", mappings=[none], color=_fixed(color))
        ),
    )


def _worst() -> dashboard.Panel:
    return dashboard.Panel(
        "stat",
        title="Crossed the most",
        description="The limits that were passed by the most, the worst first. The table below has all of them.",
        transformations=[
            _crossed([*distance_to_limits.CRITICAL, *distance_to_limits.WARNING]),
            dashboard.DataTransformerConfig("sortBy", options={"sort": [{"field": "At worst", "desc": True}]}),
            dashboard.DataTransformerConfig(
                "filterFieldsByName", options={"include": {"names": ["Host", "Limit", "State"]}}
            ),
        ],
        options=_options(
            common.ReduceDataOptions(values=True, limit=_NAMED, calcs=[]),
            common.BigValueTextMode.VALUE_AND_NAME,
        ),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(no_value="No limit was crossed"),
            # Not for all columns: `503 responses` would be mapped as the number 503.
            [panels.override("State", {"displayName": _SENTENCE, "mappings": distance_to_limits.states()})],
        ),
    )


def _crossed(ranges: Sequence[distance_to_limits.Range]) -> dashboard.DataTransformerConfig:
    """Return a transformation to the rows whose state is in one of these ranges."""
    filters = [
        {"fieldName": "State", "config": {"id": "between", "options": {"from": start, "to": end}}}
        for start, end in ranges
    ]
    return dashboard.DataTransformerConfig(
        "filterByValue", options={"type": "include", "match": "any", "filters": filters}
    )


def _options(reduced: common.ReduceDataOptions, shown: common.BigValueTextMode) -> stat.Options:
    return stat.Options(
        graph_mode=common.BigValueGraphMode.NONE,
        color_mode=common.BigValueColorMode.VALUE,
        text_mode=shown,
        reduce_options=reduced,
        orientation=common.VizOrientation.VERTICAL,
        text=common.VizTextDisplayOptions(title_size=14, value_size=24),
    )


def _fixed(color: str) -> dashboard.FieldColor:
    return dashboard.FieldColor(dashboard.FieldColorModeId.FIXED, fixed_color=color)
