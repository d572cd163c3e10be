"""Recorded runs, as shaded regions on every dashboard, and the dashboard Runs, which compares two runs."""

from collections.abc import Iterator

from plimsoll.dashboards.areas import WIDTH, PanelSpec, load_areas, make_uid
from plimsoll.dashboards.limits import PanelLimits, find_home_panel, format_title
from plimsoll.export.grafana.dashboards import dashboard_variables, panel_queries, panels, parts
from plimsoll.export.grafana.dashboards.parts import Json
from plimsoll.store.influx.samples import RUN
from plimsoll.store.quoting import quote_identifier

AREA = "runs"
# `hosts_url` contains the hosts of a run as URL parameters of a dashboard.
HOSTS_URL = "hosts_url"
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
_FIELDS = ", ".join(quote_identifier(name) for name in _COLUMNS if name not in ("run", "Time"))
_LIST = f'SELECT "run"::tag, {_FIELDS} FROM "{RUN}" ORDER BY time DESC'
_LATEST = f'SELECT "run"::tag, "end_ms" FROM "{RUN}"{{}} ORDER BY time DESC'
_OF = f'FROM "{RUN}" WHERE "run" = \'${{}}\''
_SPAN = "from=${__data.fields.Time.numeric}&to=${__data.fields.end_ms.numeric}"
_OPEN = f"{_SPAN}&${{__data.fields.{HOSTS_URL}:raw}}"
_FIRST_PAIR = 10  # the panels of the first signal are 10 and 11


def run_annotation() -> Json:
    """Return the annotation that shades the runs that overlap the time range."""
    annotation = parts.build_part("run_annotation", datasource=parts.DATASOURCE, iconColor=parts.load_look().run)
    annotation["target"]["datasource"] = parts.DATASOURCE
    return annotation


def run_variables(limits: PanelLimits) -> list[Json]:
    """Return the variables of the dashboard Runs.

    The reader chooses a run, an earlier run, and hosts and instances. Hidden variables say how far the panels of each
    run are shifted back in time.
    """
    hidden = {"hide": 2, "skipUrlSync": True}
    run = dashboard_variables.query_variable("run", "Run", _LATEST.format(""), sort=0)
    start = dashboard_variables.query_variable("start", "Start", f'SELECT "start_ms" {_OF.format("run")}', **hidden)
    earlier = _LATEST.format(" WHERE time < ${start}ms")
    baseline = dashboard_variables.query_variable("baseline", "Earlier run", earlier, sort=0)
    # Panels shift their range back to the start of the run; Grafana cannot shift it forward.
    since = '${__from} - "start_ms"'
    minutes = f"floor(({since} + abs({since})) / 120000)"
    further = 'floor((${start} - "start_ms") / 60000) + ${shift}'
    shift = dashboard_variables.query_variable(
        "shift", "Minutes back", f"SELECT {minutes} {_OF.format('run')}", **hidden
    )
    units = [
        dashboard_variables.query_variable(
            f"{name}_{unit}", f"{name}, {unit} back", f"SELECT {value} {_OF.format(name)}", **hidden
        )
        for name, total in (("run", minutes), ("baseline", further))
        for unit, value in (("days", f"floor(({total}) / 1440)"), ("minutes", f"({total}) % 1440"))
    ]
    compared = dashboard_variables.list_influx_variables(
        [_find_spec(signal) for signal in load_areas().runs.compared], limits
    )
    return [dashboard_variables.build_source_variable(), run, start, baseline, shift, *units, *compared]


def run_panels(limits: PanelLimits) -> list[Json]:
    """Return the list of runs, and for each compared signal the panels of both runs, side by side."""
    heading = parts.build_part("run_pairs", gridPos=parts.build_grid(1, WIDTH, 0, 10))
    about = parts.build_part("panel", "run_about", gridPos=parts.build_grid(3, WIDTH, 0, 11))
    return [_list(), heading, about, *_build_pairs(limits)]


def _list() -> Json:
    """Return the table of runs; each row links to the dashboards at the time of its run."""
    areas = load_areas()
    titles = {make_uid("health"): areas.health.title} | {area.uid: area.title for area in areas.areas}
    here = parts.link("Show here", f"/d/{make_uid(AREA)}?{_OPEN}&var-run=${{__data.fields.run}}")
    links = [here, *(parts.link(f"Open {title}", f"/d/{to}?{_OPEN}") for to, title in titles.items())]
    targets = panel_queries.Targets()
    targets.ask(_LIST, result_format="table")
    table = parts.build_panel(
        "table", "", parts.build_grid(10, WIDTH, 0, 0), datasource=parts.DATASOURCE, targets=targets.all
    ) | parts.build_part("run_list")
    table["transformations"].append(parts.build_organize(_COLUMNS))
    columns = {_COLUMNS["run"]: {"links": links}, **parts.build_part("run_columns")}
    return {
        **table,
        "options": parts.build_table_options(_COLUMNS["Time"], desc=True),
        "fieldConfig": {
            "defaults": parts.build_part("filterable", noValue="No runs yet: load logs with plimsoll ingest"),
            "overrides": [parts.build_override(name, properties) for name, properties in columns.items()],
        },
    }


def _build_pairs(limits: PanelLimits) -> Iterator[Json]:
    for at, signal in enumerate(load_areas().runs.compared):
        spec = _find_spec(signal)
        for column, run in enumerate(("run", "baseline")):
            place = parts.build_grid(8, WIDTH // 2, column * WIDTH // 2, 14 + 8 * at)
            signal_panel = panels.build_signal_panel(spec, make_uid(AREA), place, limits)
            signal_panel["id"] = _FIRST_PAIR + 2 * at + column
            signal_panel["title"] = f"{format_title(spec, limits)} · ${run}"
            # Split into two numbers, as Grafana accepts few digits.
            signal_panel["timeShift"] = f"${{{run}_days}}d-${{{run}_minutes}}m"
            yield signal_panel


def _find_spec(signal: str) -> PanelSpec:
    """Return the spec of the panel that shows a signal on its own dashboard. Raise ValueError if there is none."""
    home = find_home_panel(signal)
    if home is None:
        raise ValueError(f"areas.yaml: {signal} is compared, but on no dashboard")
    return home[1]
