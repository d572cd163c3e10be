"""The page of all alerts, the page of one alert, and the forms for silences and acknowledgements."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from plimsoll.alerting import actions, alert_queries, silences, space_forecast
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_queries import read_alert as find_alert
from plimsoll.alerting.alert_queries import read_events
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.alerting.firing import Incident, load_firing
from plimsoll.alerting.silences import Silence
from plimsoll.alerting.wording import (
    describe_cause,
    describe_confidence,
    describe_silence,
    describe_state,
    list_next_steps,
)
from plimsoll.dashboards.limits import find_panel
from plimsoll.hosts import overlay
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import format_count
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, Zone, format_duration, parse_duration
from plimsoll.model.value_text import format_value
from plimsoll.notify import target_overlay
from plimsoll.notify.notification_log import read_notifications
from plimsoll.pages.alerts import lists
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.charts.signal_values import find_crossed_since
from plimsoll.pages.shared.alert_rows import build_rows, describe_alert, list_alert_times, list_marks
from plimsoll.pages.shared.form_words import replace_options_by_fields
from plimsoll.pages.shared.forms import ID, Fields, find_actor, list_form_routes, number, record_action, redirect_to
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.settings_change import change_settings
from plimsoll.pages.shared.time_range import MILLISECOND
from plimsoll.rules.schema.signal import Signal
from plimsoll.up.watched import Watched

_BEFORE = 1800 * SECOND
_AFTER = 600 * SECOND
_HISTORY, _PROJECTION = 14 * 86_400 * SECOND, 3 * 86_400 * SECOND  # of a volume that will be full
_MOST_OTHERS = 10
_HAPPENED = {
    "fired": "fired",
    "recovered": "recovered",
    "retired": "ended: the host was retired",
    "rule removed": "ended: the rule is not judged any more",
    "planned": "in planned maintenance",
    "stale": "no data any more",
    "data again": "data again",
    "amended": "amended, as samples came late",
    "acknowledged": "acknowledged",
    "flapping": "flapping: it fires again and again",
}


@dataclass(frozen=True, slots=True)
class SignalLook:
    """A signal to look at because of an alert: title, chart spec (empty: none), dashboard panel (0: none)."""

    title: str
    chart: str = ""
    area: str = ""
    panel: int = 0


Result = TypeVar("Result")
Form = dict[str, str]
_RELOADS_APART = 10 * SECOND
_ONE_CLICK = "with one click, from the page"
_SILENCE: Form = {
    **dict.fromkeys(("rule", "reason", "who", "alert", "wrong"), ""),
    "host": "*",
    "instance": "*",
    "length": "2h",
}
_TARGET: Form = dict.fromkeys(("name", "kind", "server", "user", "from", "to"), "")  # the others are secrets
_ACKNOWLEDGEMENT: Form = {"note": "", "who": "", "wrong": ""}


def list_routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """Return the routes of the alert pages and of their forms."""
    pages = _AlertPages(watched, frame, scenes)
    return [
        Route("/alerts", pages.show_all),
        Route(f"/alerts/{ID}", lambda request: pages.show_alert(request, request.path_params["id"])),
        Route("/silences/matches", pages.count_matches),
        *list_form_routes(f"/alerts/{ID}/ack", pages.acknowledge, "/alerts/{id}"),
        *list_form_routes("/silences", pages.begin_silence, "/alerts"),
        *list_form_routes(f"/silences/{ID}/end", pages.end_silence, "/alerts"),
        *list_form_routes(f"/incidents/{ID}/silence", pages.silence_incident, "/"),
        *list_form_routes(f"/incidents/{ID}/silence/end", pages.end_silences_of_incident, "/"),
        *list_form_routes("/targets/test", pages.test_target, "/alerts"),
        *list_form_routes("/targets", pages.add_target, "/alerts"),
        *list_form_routes("/targets/remove", pages.remove_target, "/alerts"),
        *list_form_routes("/settings/reload", pages.reload, "/alerts"),
    ]


class _AlertPages:
    def __init__(self, watched: Watched, frame: Frame, scenes: Scenes) -> None:
        self._watched = watched
        self._scenes = scenes
        self._file = watched.file
        self._frame = frame

    def show_all(self, request: Request) -> Response:
        """Return the page of all alerts."""
        form = {**_SILENCE, "rule": request.query_params.get("silence", "")}
        return self._show_all(request, request.query_params, form, notice=self._describe_silence(request))

    def show_alert(
        self, request: Request, id_: int, silence: Form | None = None, ack: Form = _ACKNOWLEDGEMENT
    ) -> Response:
        """Return the page of an alert. `silence` and `ack` are the values of a refused form, to be shown again."""
        alert = find_alert(self._file, id_)
        if alert is None:
            hint = "Alerts are kept for 400 days after they ended. The page of alerts lists them."
            return self._frame.missing(request, f"There is no alert {id_}.", hint)
        is_refused = silence or ack["wrong"]
        pattern = {"rule": alert.rule, "host": alert.host or "*", "instance": alert.instance or "*"}
        return self._frame.page(
            request,
            "alerts/alert.html.j2",
            f"Alert {id_}",
            HTTPStatus.UNPROCESSABLE_ENTITY if is_refused else HTTPStatus.OK,
            silence=silence or {**_SILENCE, **pattern, "alert": str(id_)},
            ack=ack,
            notice=self._describe_silence(request),
            rule_ids=sorted(actions.list_rule_ids(self._file)),
            **build_content(self._watched, self._scenes, alert, request.query_params, self._frame.zone_of(request)),
        )

    def count_matches(self, request: Request) -> Response:
        """Return a sentence on how many firing alerts the silence in the form would match."""
        rule, host, instance = (request.query_params.get(name, "").strip() for name in ("rule", "host", "instance"))
        try:
            actions.check_rule(self._file, rule)
        except Unusable as error:
            return PlainTextResponse(replace_options_by_fields(str(error)))
        matches = load_firing(self._file).like(rule, host or "*", instance or "*")
        return PlainTextResponse(f"matches {format_count(matches, 'alert')} firing now")

    def begin_silence(self, request: Request, fields: Fields) -> Response:
        """Begin the silence that the form describes, and redirect to the page that the form is on."""
        form = {name: fields.get(name, "") for name in _SILENCE}
        id_ = number(form["alert"])
        silence, form["wrong"] = _try(lambda: self._silence(request, form))
        if silence is not None:
            path = "/alerts" if id_ is None else f"/alerts/{id_}"
            return self._redirect(request, path, "silences", silenced=silence.id)
        return self._show_refused(request, form) if id_ is None else self.show_alert(request, id_, silence=form)

    def silence_incident(self, request: Request, fields: Fields) -> Response:
        """Silence all alerts of the incident with the alert in the path, and redirect to the health page."""
        id_: int = request.path_params["id"]
        incidents = load_firing(self._file).incidents
        alerts = next((incident.alerts for incident in incidents if id_ in {alert.id for alert in incident.alerts}), ())
        for alert in alerts:
            pattern = {"rule": alert.rule, "host": alert.host, "instance": alert.instance or ""}
            choices = {"length": fields.get("length", ""), "who": fields.get("who", "")}
            form = {**_SILENCE, **pattern, **choices, "reason": _ONE_CLICK}
            _, form["wrong"] = _try(partial(self._silence, request, form))
            if form["wrong"]:
                return self._show_refused(request, form)
        return self._redirect(request, "/")

    def end_silences_of_incident(self, request: Request, fields: Fields) -> Response:
        """End the silences of the incident with the alert in the path, and redirect to the health page.

        Silences with patterns (`*`) stay; if no silence was ended, redirect to the list of silences.
        """
        id_: int = request.path_params["id"]
        incidents, now = load_firing(self._file).incidents, time.time_ns()
        alerts = next((incident.alerts for incident in incidents if id_ in {alert.id for alert in incident.alerts}), ())
        alert_keys = {(alert.rule, make_host_key(alert.host)) for alert in alerts}
        ended = [
            _try(partial(actions.end_silence, self._file, silence.id, find_actor(request), now))
            for silence in silences.read_active_silences(self._file, now)
            if (silence.rule, make_host_key(silence.host)) in alert_keys
        ]
        return self._redirect(request, "/") if ended else self._redirect(request, "/alerts", "silences")

    def end_silence(self, request: Request, fields: Fields) -> Response:
        """End a silence, and redirect to the list of silences."""
        id_: int = request.path_params["id"]
        _, wrong = _try(lambda: actions.end_silence(self._file, id_, find_actor(request), time.time_ns()))
        if wrong:
            return self._frame.missing(request, f"{wrong}.", "The page of alerts lists the silences that hold.")
        return self._redirect(request, "/alerts", "silences")

    def test_target(self, request: Request, fields: Fields) -> Response:
        """Send a test message to a notification target; the alerts page shows whether this succeeded."""
        target = fields.get("target", "")
        try:
            self._watched.trials.send(target)
        except Unusable as error:
            status = HTTPStatus.TOO_MANY_REQUESTS
            return self._show_all(request, QueryParams(), _SILENCE, status, untried=str(error))
        record_action(self._watched, find_actor(request), f"sent a test message to {target}")
        return self._redirect(request, "/alerts", "targets")

    def add_target(self, request: Request, fields: Fields) -> Response:
        """Add the target in a form to targets.toml, and send it a test message."""
        name, taken = fields.get("name", ""), [target.name for target in self._watched.trials.targets]
        action = f"added the target {name} ({fields.get('kind')})"
        refused = self._change_targets(
            request, fields, action, lambda folder: target_overlay.add(folder, fields, taken)
        )
        return refused or self.test_target(request, {"target": name})

    def remove_target(self, request: Request, fields: Fields) -> Response:
        """Remove a target that was added on the page."""
        name = fields.get("target", "")
        action = f"removed the target {name}"
        refused = self._change_targets(request, {}, action, lambda folder: target_overlay.remove(folder, name))
        return refused or self._redirect(request, "/alerts", "targets")

    def _change_targets(
        self, request: Request, fields: Fields, action: str, change: Callable[[Path], str]
    ) -> Response | None:
        """Write to targets.toml what `change` returns. If refused, return the page with the reason; else None."""

        def change_file() -> str:
            overlay.save(self._watched.folder, change(self._watched.folder), target_overlay.FILE_NAME)
            return action

        untried = change_settings(self._watched, find_actor(request), change_file, target_overlay.FILE_NAME)
        shown = {name: fields.get(name, "") for name in _TARGET}
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return self._show_all(request, QueryParams(), _SILENCE, status, "", untried, shown) if untried else None

    def reload(self, request: Request, fields: Fields) -> Response:
        """Read the settings files again, at most once in ten seconds; the alerts page shows the result."""
        last = self._watched.reloaded
        if last is None or not 0 <= time.time_ns() - last.at < _RELOADS_APART:
            outcome = ": they were refused" if self._watched.reload().refused else ""
            record_action(self._watched, find_actor(request), f"had the settings read again{outcome}")
        return self._redirect(request, "/alerts", "targets")

    def acknowledge(self, request: Request, fields: Fields) -> Response:
        """Acknowledge an alert, and redirect to the alert's page."""
        id_: int = request.path_params["id"]
        form = {name: fields.get(name, "") for name in _ACKNOWLEDGEMENT}
        actor = find_actor(request, form["who"])
        _, form["wrong"] = _try(lambda: actions.acknowledge(self._file, id_, actor, form["note"], time.time_ns()))
        if form["wrong"]:
            return self.show_alert(request, id_, ack=form)
        return self._redirect(request, f"/alerts/{id_}")

    def _silence(self, request: Request, form: Form) -> Silence:
        if not form["rule"]:
            raise Unusable('give the id of a rule; * is any text: "windows-cpu-*", or "*" for all rules')
        try:
            length = parse_duration(form["length"])
        except ValueError as error:
            raise Unusable(f"for how long: {error}") from None
        pattern, actor = (form["rule"], form["host"] or "*", form["instance"] or "*"), find_actor(request, form["who"])
        return actions.silence(self._file, *pattern, length, form["reason"], actor, time.time_ns())

    def _show_refused(self, request: Request, form: Form) -> Response:
        return self._show_all(request, QueryParams(), form, HTTPStatus.UNPROCESSABLE_ENTITY)

    def _show_all(
        self,
        request: Request,
        query: QueryParams,
        form: Form,
        status: HTTPStatus = HTTPStatus.OK,
        notice: str = "",
        untried: str = "",
        target: Form | None = None,
    ) -> Response:
        """Return the alerts page.

        `notice` describes a new silence; `untried` says why a test message was not sent, or a target not changed;
        `target` has the values of a refused form of a target.
        """
        content: dict[str, Any] = lists.build_content(self._watched, query, self._frame.zone_of(request))
        rule_ids = sorted(actions.list_rule_ids(self._file))
        content |= {"silence": form, "notice": notice, "untried": untried, "rule_ids": rule_ids}
        content |= {"target": target or _TARGET, "added": self._list_added_targets()}
        return self._frame.page(request, "alerts/alerts.html.j2", "Alerts", status, **content)

    def _list_added_targets(self) -> Collection[str]:
        """Return the names of the targets that were added on the page; none if targets.toml is invalid."""
        with suppress(Unusable):
            return target_overlay.load_added(self._watched.folder).keys()
        return ()

    def _describe_silence(self, request: Request) -> str:
        """Return a sentence on the silence that the URL names as just begun; empty if the URL names none."""
        id_ = request.query_params.get("silenced", "")
        active = silences.read_active_silences(self._file, time.time_ns())
        silence = next((silence for silence in active if str(silence.id) == id_), None)
        if silence is None:
            return ""
        muted = load_firing(self._file).like(silence.rule, silence.host, silence.instance)
        return f"{describe_silence(silence, muted, self._frame.zone_of(request))}."

    def _redirect(self, request: Request, path: str, part: str = "", **parameters: int) -> Response:
        return redirect_to(self._frame.links(request).to(path, **parameters) + (f"#{part}" if part else ""))


def _try(action: Callable[[], Result]) -> tuple[Result | None, str]:
    """Perform an action; return its result and an empty text, or None and the reason why it was refused."""
    try:
        return action(), ""
    except (Unusable, NotKept) as error:
        return None, str(error)


def build_content(watched: Watched, scenes: Scenes, alert: Alert, query: QueryParams, zone: Zone) -> dict[str, Any]:
    """Return the template variables of an alert's page. The URL's `from` and `to` replace the charts' usual range."""
    now = time.time_ns()
    signals, rule = watched.site.catalogue.signals, watched.site.catalogue.rules.get(alert.rule)
    earlier, total = alert_queries.find_latest(watched.file, alert.key, 0, _MOST_OTHERS + 1)
    start = str((alert.begin - _BEFORE) // MILLISECOND)
    end = "now" if alert.ended_at is None else str(min(alert.ended_at + _AFTER, now) // MILLISECOND)
    names = rule.look_at if rule and alert.signal else ()
    shown = alert.signal
    if shown == space_forecast.SIGNAL:
        shown, start, names = space_forecast.SPACE, str((alert.begin - _HISTORY) // MILLISECOND), (alert.signal,)
        end = str((now + _PROJECTION) // MILLISECOND) if alert.firing else end
    fires = alert.firing and alert.kind == "rule"
    mates = [mate for mate in watched.health().alerts if mate.incident == alert.incident and mate.id != alert.id]
    return {
        "alert": alert,
        "cause": describe_cause(alert) if fires else "",
        "sure": describe_confidence(Incident([alert, *mates]), watched.judged(), watched.site.catalogue)
        if fires
        else "",
        "sentence": describe_state(alert) if fires else describe_alert(alert, zone),
        "marks": [*list_marks(alert, silences.read_active_silences(watched.file, now), zone)],
        "facts": [*_list_facts(alert, find_crossed_since(scenes, alert), zone, now)],
        "zone_label": zone.label(alert.fired_at),
        "known_rule": rule is not None,
        "own": _look(shown, alert.host, alert.instance, signals.get(shown)),
        "next": [*list_next_steps(alert, watched.site.catalogue)] if alert.firing else (),
        "looks": [_look(name, alert.host, None, signals.get(name)) for name in names]
        or [SignalLook(title) for title in alert.details.look_at],
        "band": [*_list_bands(alert, zone, now)],
        "start": query.get("from") or start,
        "end": query.get("to") or end,
        "now": now // MILLISECOND,
        "happened": _list_happenings(watched, alert, zone),
        "others": build_rows([other for other in earlier if other.id != alert.id][:_MOST_OTHERS], (), zone),
        "others_total": max(total - 1, 0),
    }


def _list_facts(alert: Alert, crossed_since: int | None, zone: Zone, now: int) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each fact to show about an alert; the facts depend on the alert's kind.

    `crossed_since` is the time of the first sample past the limit (UTC ns), None if unknown.
    """
    unit, details = alert.details.unit, alert.details
    match alert.kind:
        case "rule" | "flapping":
            reduced = f" ({details.reduced})" if details.reduced else ""
            yield "Limit", f"{details.limit}{reduced}"
            yield "Value when it fired", format_value(alert.value, unit)
            if details.usual:
                yield "Usual at that hour", details.usual
            if alert.kind == "rule":
                yield "Worst", format_value(alert.worst, unit)
                yield "Last", "no data now" if alert.stale else format_value(alert.last, unit)
                yield from list_alert_times(alert, crossed_since, zone)
            else:
                yield "Fired", f"{alert.firings} times since {zone.clock(alert.begin)}"
                yield "Flapping since", zone.clock(alert.fired_at)
        case "host-silent" | "all-silent":
            yield "Last sample", zone.clock(alert.since) if alert.since else "none ever came"
            yield "Expected", details.limit
            yield "Fired", zone.clock(alert.fired_at)
        case "plimsoll":
            yield "Since", zone.clock(alert.begin)
    if alert.ended_at is not None:
        yield "Ended", f"{zone.clock(alert.ended_at)}, {alert.ended_how}"
    lasted = format_duration(((alert.ended_at or now) - alert.begin) // SECOND * SECOND)
    yield "Lasted" if alert.ended_at else "Lasts for", lasted


def _list_bands(alert: Alert, zone: Zone, now: int) -> Iterator[tuple[str, str, str]]:
    """Yield the shaded times of the alert's chart (pending, firing): CSS class, label, and begin and end as text."""
    end = now if alert.ended_at is None else alert.ended_at
    if alert.kind != "rule":
        return
    for kind, word, first, last in (
        ("brief", "pending", alert.begin, alert.fired_at),
        (alert.severity, "firing", alert.fired_at, end),
    ):
        if first < last:
            till = "now" if last == now else zone.clock(last, date=False)
            length = format_duration((last - first) // SECOND * SECOND)
            yield kind, word, f"{zone.clock(first, date=False)}–{till} ({length})"


def _look(name: str, host: str, instance: str | None, signal: Signal | None) -> SignalLook:
    if signal is None:
        return SignalLook(name)
    area, panel = find_panel(name)
    return SignalLook(signal.title, str(Spec(name, (host,), instance)), area, panel)


def _list_happenings(watched: Watched, alert: Alert, zone: Zone) -> Sequence[tuple[str, str, str]]:
    """Return the events of an alert and the messages sent about it, oldest first: time, what happened, details."""
    happened: list[tuple[int, str, str]] = []
    for event in read_events(watched.file, alert.id):
        value = "" if event.value is None else format_value(event.value, alert.details.unit)
        details = ": ".join(text for text in (value, event.note) if text)
        happened.append((event.at, _HAPPENED.get(event.what, event.what), details))
    happened += [
        (message.at, f"message to {message.target}: {message.outcome}", message.error or message.title)
        for message in read_notifications(watched.file, alert.id)
    ]
    return [(zone.clock(at), action, details) for at, action, details in sorted(happened, key=lambda event: event[0])]
