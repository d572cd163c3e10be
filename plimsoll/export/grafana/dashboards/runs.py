"""Recorded runs: regions on every dashboard, and the dashboard Runs."""

from collections.abc import Iterator

from plimsoll.dashboards.areas import WIDTH, PanelSpec, load_areas, uid
from plimsoll.dashboards.homes import home_of
from plimsoll.dashboards.limits import Limits, title
from plimsoll.export.grafana.dashboards import describe, panels, targets, variables
from plimsoll.export.grafana.look import load_look
from plimsoll.export.grafana.sdk import Dataquery, common, dashboard, text
from plimsoll.store.influx.quoting import identifier
from plimsoll.store.influx.runs import RUN

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
_LATEST = f'SELECT "run"::tag, "end_ms" FROM "{RUN}"{{}} ORDER BY time DESC'
_OF = f'FROM "{RUN}" WHERE "run" = \'${{}}\''
_OPEN = "&".join(
    (
        "from=${__data.fields.Time.numeric}",
        "to=${__data.fields.end_ms.numeric}",
        f"${{__data.fields.{HOSTS_URL}:raw}}",
    )
)
_FIRST_PAIR = 10  # the panels of the first signal are 10 and 11
_ABOUT = """\
**Left**: the run chosen as *Run*, from its start. **Right**: the run chosen as *Earlier run*, from its own start.
Both are as long as the range of the dashboard: the link *Show here* in the list makes it that of a run.
Axes follow each run's own values, unless these are percentages or below the limits: compare the numbers.
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
    """Return the variables of the dashboard: the two runs, how far back they are, and the choices of panels."""
    hidden = {"hide": dashboard.VariableHide.HIDE_VARIABLE, "skip_url_sync": True}
    unsorted = {"sort": dashboard.VariableSort.DISABLED}
    run = variables.query("run", "Run", _LATEST.format(""), **unsorted)
    start = variables.query("start", "Start", f'SELECT "start_ms" {_OF.format("run")}', **hidden)
    baseline = variables.query("baseline", "Earlier run", _LATEST.format(" WHERE time < ${start}ms"), **unsorted)
    # Panels shift their range back, so that it begins with the run; not forward, which Grafana cannot.
    since = '${__from} - "start_ms"'
    minutes = f"floor(({since} + abs({since})) / 120000)"
    further = 'floor((${start} - "start_ms") / 60000) + ${shift}'
    shift = variables.query("shift", "Minutes back", f"SELECT {minutes} {_OF.format('run')}", **hidden)
    parts = [
        variables.query(f"{name}_{unit}", f"{name}, {unit} back", f"SELECT {value} {_OF.format(name)}", **hidden)
        for name, total in (("run", minutes), ("baseline", further))
        for unit, value in (("days", f"floor(({total}) / 1440)"), ("minutes", f"({total}) % 1440"))
    ]
    compared = [_spec(signal) for signal in load_areas().runs.compared]
    return [variables.source(), run, start, baseline, shift, *parts, *variables.choices(compared, limits)]


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
            "Every run that was loaded, the latest first. Its name leads to each dashboard at the time and for the "
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
                no_value="No runs yet: load logs with plimsoll ingest",
                custom=common.TableFieldOptions(filterable=True),
            ),
            [
                panels.override(_COLUMNS["run"], {"links": links}),
                panels.override(_COLUMNS["values"], {"unit": "locale"}),
                panels.override(
                    _COLUMNS[HOSTS_URL], {"custom.hideFrom": {"viz": True, "legend": False, "tooltip": False}}
                ),
            ],
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
        for column, run in enumerate(("run", "baseline")):
            position = dashboard.GridPos(8, WIDTH // 2, column * WIDTH // 2, 14 + 8 * at)
            made = panels.panel(spec, uid(AREA), position, limits)
            made.id_val = _FIRST_PAIR + 2 * at + column
            made.title = f"{title(spec, limits)} · ${run}"
            # Two numbers, as Grafana takes few digits.
            made.time_shift = f"${{{run}_days}}d-${{{run}_minutes}}m"
            yield made


def _spec(signal: str) -> PanelSpec:
    """Return the panel that shows a signal on its own dashboard."""
    home = home_of(signal)
    if home is None:
        raise ValueError(f"areas.yaml: {signal} is compared, but on no dashboard")
    return home[1]
