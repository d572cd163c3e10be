"""Recorded runs: regions on every dashboard, and the dashboard Runs."""

from collections.abc import Iterator

from dashboards.areas import WIDTH, PanelSpec, load_areas, uid
from dashboards.homes import home_of
from dashboards.limits import Limits, title
from grafana import describe, panels, targets, variables
from grafana.look import load_look
from grafana.sdk import Dataquery, common, dashboard, text
from store.influx_runs import RUN
from store.quoting import identifier

AREA = "runs"
# `hosts_url` contains the hosts of a run as URL parameters of a dashboard.
HOSTS_URL = "hosts_url"
_OVERLAPS = 'time <= ${__to}ms AND "end_ms" >= ${__from}'
_FIELDS = ("end_ms", "hosts", "labels", "files", "values", HOSTS_URL)
_LIST = f'SELECT "run"::tag, {", ".join(map(identifier, _FIELDS))} FROM "{RUN}" ORDER BY time DESC'
_COLUMNS = {
    "run": "Run",
    "Time": "From",
    "end_ms": "To",
    "hosts": "Hosts",
    "labels": "Labels",
    "files": "Files",
    "values": "Values",
    HOSTS_URL: "Hosts in links",
}
# Without a condition on time InfluxDB 3 returns the tags of the last day only.
_NAMES = f'SHOW TAG VALUES FROM "{RUN}" WITH KEY = "run" WHERE time > 0'
_OPEN = "&".join(
    (
        "from=${__data.fields.Time.numeric}",
        "to=${__data.fields.end_ms.numeric}",
        f"${{__data.fields.{HOSTS_URL}:raw}}",
    )
)
_FIRST_PAIR = 10  # the panels of the first signal are 10 and 11
_ABOUT = """\
**Left**: the run chosen as *Run*, if the dashboard's range is that of the run: use its link *Show here* in the list.
**Right**: the same stretch of the run chosen as *Earlier run*, counted from its own start.
It must have begun before the other; else Grafana says `invalid timeshift`.
"""


def annotation() -> dashboard.AnnotationQuery:
    """Return the annotation that shows the runs that overlap the range as regions."""
    query = f'SELECT "title", "labels", "hosts", "end_ms" FROM "{RUN}" WHERE {_OVERLAPS}'
    # The plugin prefixes the columns of annotations with their measurement, and expects the full name here.
    target: dict[str, object] = {
        "refId": "runs",
        "datasource": targets.DATASOURCE,
        "query": query,
        "queryType": "tags",
        "rawQuery": True,
        "fromAnnotations": True,
        "name": "Runs",
        "titleColumn": f"{RUN}.title",
        "textColumn": f"{RUN}.hosts",
        "tagsColumn": f"{RUN}.labels",
        "timeEndColumn": f"{RUN}.end_ms",
    }
    made = dashboard.AnnotationQuery("Runs", targets.DATASOURCE, icon_color=load_look().run, hide=False)
    made.target = _Raw(target)
    made.placement = None  # pyright: ignore[reportAttributeAccessIssue]  # beside the variables, not in a menu
    return made


def run_variables(limits: Limits) -> list[dashboard.VariableModel]:
    """Return the variables of the dashboard: the two runs, the time between their starts, and the choices of panels."""
    run = variables.query("run", "Run", _NAMES)
    baseline = variables.query("baseline", "Earlier run", _NAMES)
    seconds_between = (
        'SELECT floor(sum("ms") / 1000) FROM '
        f'(SELECT "start_ms" AS "ms" FROM "{RUN}" WHERE "run" = \'$run\'), '
        f'(SELECT "start_ms" * -1 AS "ms" FROM "{RUN}" WHERE "run" = \'$baseline\')'
    )
    shift = variables.query("shift", "Seconds between", seconds_between, hide=dashboard.VariableHide.HIDE_VARIABLE)
    shift.skip_url_sync = True
    compared = [_spec(signal) for signal in load_areas().runs.compared]
    return [variables.source(), run, baseline, shift, *variables.choices(compared, limits)]


def run_panels(limits: Limits) -> list[dashboard.Panel | dashboard.RowPanel]:
    """Return the list of runs, and the panels of two runs side by side."""
    heading = dashboard.RowPanel(title="Two runs side by side", id_val=3, grid_pos=dashboard.GridPos(1, WIDTH, 0, 10))
    return [_list(), heading, _about(), *_pairs(limits)]


class _Raw(Dataquery):
    """A query that is written unchanged."""

    def __init__(self, written: dict[str, object]) -> None:
        self._written = written

    def to_json(self) -> dict[str, object]:
        return self._written


def _list() -> dashboard.Panel:
    areas = load_areas()
    to = {uid("health"): areas.health.title} | {area.uid: area.title for area in areas.areas}
    here = describe.link("Show here", f"/d/{uid(AREA)}?{_OPEN}&var-run=${{__data.fields.run}}")
    links = [here, *(describe.link(f"Open {title}", f"/d/{to_uid}?{_OPEN}") for to_uid, title in to.items())]
    return dashboard.Panel(
        "table",
        id_val=1,
        title="Recorded runs",
        description=(
            "Every run that was loaded, the latest first. A cell leads to each dashboard at the time and for the "
            "hosts of its run; dashboards show runs as regions as well."
        ),
        grid_pos=dashboard.GridPos(10, WIDTH, 0, 0),
        datasource=targets.DATASOURCE,
        targets=[targets.InfluxQuery("A", _LIST, result_format="table")],
        transformations=[
            dashboard.DataTransformerConfig(
                "convertFieldType",
                options={"conversions": [{"targetField": "end_ms", "destinationType": "time"}]},
            ),
            panels.organized(_COLUMNS),
        ],
        options=panels.sorted_by(_COLUMNS["Time"], desc=True),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(
                no_value="No runs yet: plimsoll ingest LOG --run NAME",
                links=links,
                custom=common.TableFieldOptions(filterable=True),
            )
        ),
    )


def _about() -> dashboard.Panel:
    return dashboard.Panel(
        "text",
        id_val=2,
        title="",
        transparent=True,
        grid_pos=dashboard.GridPos(3, WIDTH, 0, 11),
        options=text.Options(mode=text.TextMode.MARKDOWN, content=_ABOUT),
    )


def _pairs(limits: Limits) -> Iterator[dashboard.Panel]:
    for at, signal in enumerate(load_areas().runs.compared):
        spec = _spec(signal)
        for column, (name, shift) in enumerate((("$run", None), ("$baseline", "${shift}s"))):
            position = dashboard.GridPos(8, WIDTH // 2, column * WIDTH // 2, 14 + 8 * at)
            made = panels.panel(spec, uid(AREA), position, limits)
            made.id_val = _FIRST_PAIR + 2 * at + column
            made.title = f"{title(spec, limits)} · {name}"
            made.time_shift = shift
            yield made


def _spec(signal: str) -> PanelSpec:
    """Return the panel that shows a signal on its own dashboard."""
    home = home_of(signal)
    if home is None:
        raise ValueError(f"areas.yaml: {signal} is compared, but on no dashboard")
    return home[1]
