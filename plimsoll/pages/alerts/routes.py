"""The pages of alerts: all of them, and one; silences and acknowledgements."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import TypeVar

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from plimsoll.alerting import actions, silences
from plimsoll.alerting.alert_queries import alert as alert_of
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.alerting.audit_log import Actor, add
from plimsoll.alerting.firing import firing
from plimsoll.alerting.wording import made_sentence
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.times import SECOND, parse_duration
from plimsoll.pages.alerts import alert_page
from plimsoll.pages.alerts.lists import Lists
from plimsoll.pages.shared.asking import asking
from plimsoll.pages.shared.form_words import with_fields
from plimsoll.pages.shared.forms import Fields, Forms, see
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.numbers import number
from plimsoll.up.watched import Watched

Done = TypeVar("Done")
_RELOADS_APART = 10 * SECOND
_ONE_CLICK = "with one click, from the page"


@dataclass(frozen=True, slots=True)
class SilenceForm:
    """What the form of a silence has; `wrong` is why it was refused. `alert`: the page it is on."""

    rule: str = ""
    host: str = "*"
    instance: str = "*"
    length: str = "2h"
    reason: str = ""
    who: str = ""
    alert: str = ""
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class AckForm:
    """What the form of an acknowledgement has; `wrong` is why it was refused."""

    note: str = ""
    who: str = ""
    wrong: str = ""


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The pages, and what their forms are sent to."""
    pages, forms = _AlertPages(watched, frame), Forms()
    return [
        Route("/alerts", pages.all),
        Route("/alerts/{id:number}", pages.one),
        Route("/silences/matches", pages.matches),
        forms.route("/alerts/{id:number}/ack", pages.acknowledge),
        forms.route("/silences", pages.silence),
        forms.route("/silences/{id:number}/end", pages.end),
        forms.route("/incidents/{id:number}/silence", pages.silence_incident),
        forms.route("/targets/test", pages.try_target),
        forms.route("/settings/reload", pages.reload),
        # A form that was refused is shown under these addresses: they must not end nowhere if they are opened.
        Route("/alerts/{id:number}/ack", lambda request: see(f"/alerts/{request.path_params['id']}")),
        Route("/silences", lambda request: see("/alerts")),
        Route("/targets/test", lambda request: see("/alerts")),
        Route("/settings/reload", lambda request: see("/alerts")),
        Route("/incidents/{id:number}/silence", lambda request: see("/")),
    ]


class _AlertPages:
    def __init__(self, watched: Watched, frame: Frame) -> None:
        self._watched = watched
        self._file = watched.file
        self._frame = frame
        self._lists = Lists(watched)

    def all(self, request: Request) -> Response:
        """The page of all alerts."""
        asked = request.query_params
        return self._all(request, asked, SilenceForm(rule=asked.get("silence", "")), self._made(request))

    def one(self, request: Request) -> Response:
        """The page of an alert."""
        return self._one(request, request.path_params["id"])

    def matches(self, request: Request) -> Response:
        """How many alerts that are firing a silence would match, in words, for the form."""
        asked = request.query_params
        rule, host, instance = (asked.get(name, "").strip() for name in ("rule", "host", "instance"))
        try:
            actions.check_rule(self._file, rule)
        except Unusable as error:
            return PlainTextResponse(with_fields(str(error)))
        found = firing(self._file).like(rule, host or "*", instance or "*")
        return PlainTextResponse(f"matches {counted(found, 'alert')} firing now")

    def silence(self, request: Request, fields: Fields) -> Response:
        """Begin the silence of a form."""
        form = SilenceForm(**{name: fields.get(name, "") for name in _SILENCE_FIELDS})
        made, wrong = _tried(lambda: self._silence(form, asking(request, form.who)))
        if made is not None:
            path = f"/alerts/{form.alert}" if number(form.alert) is not None else "/alerts"
            return see(self._link(request, path, silenced=made.id) + "#silences")
        refused = replace(form, wrong=wrong)
        if (alert := number(form.alert)) is not None:
            return self._one(request, alert, silence=refused)
        return self._all(request, QueryParams(), refused, "", HTTPStatus.UNPROCESSABLE_ENTITY)

    def silence_incident(self, request: Request, fields: Fields) -> Response:
        """Begin a silence for each limit of the incident that an alert belongs to, and lead back to Health."""
        id_: int = request.path_params["id"]
        fires = self._watched.health().firing.incidents
        found = next((one for one in fires if id_ in {alert.id for alert in one.alerts}), None)
        for alert in found.alerts if found else ():
            form = SilenceForm(
                alert.rule, alert.host or "*", alert.instance or "*", fields.get("length", ""), _ONE_CLICK
            )
            _, wrong = _tried(partial(self._silence, form, asking(request)))
            if wrong:
                return self._all(
                    request, QueryParams(), replace(form, wrong=wrong), "", HTTPStatus.UNPROCESSABLE_ENTITY
                )
        return see(self._link(request, "/"))

    def _silence(self, form: SilenceForm, who: Actor) -> silences.Silence:
        if not form.rule:
            raise Unusable('give the id of a rule; * is any text: "windows-cpu-*", or "*" for all rules')
        try:
            length = parse_duration(form.length)
        except ValueError as error:
            raise Unusable(f"for how long: {error}") from None
        host, instance = form.host or "*", form.instance or "*"
        return actions.silence(self._file, form.rule, host, instance, length, form.reason, who, time.time_ns())

    def end(self, request: Request, fields: Fields) -> Response:
        """End a silence."""
        id_: int = request.path_params["id"]
        _, wrong = _tried(lambda: actions.end_silence(self._file, id_, asking(request), time.time_ns()))
        if wrong:
            return self._frame.missing(request, f"{wrong}.", "The page of alerts lists the silences that hold.")
        return see(self._link(request, "/alerts") + "#silences")

    def try_target(self, request: Request, fields: Fields) -> Response:
        """Send a target a test message; the page says how it went."""
        try:
            target = fields.get("target", "")
            self._watched.trials.send(target)
            self._record(request, f"sent a test message to {target}")
        except Unusable as error:
            return self._all(
                request, QueryParams(), SilenceForm(), "", HTTPStatus.TOO_MANY_REQUESTS, untried=str(error)
            )
        return see(self._link(request, "/alerts") + "#targets")

    def reload(self, request: Request, fields: Fields) -> Response:
        """Read the settings anew, at most every ten seconds: the rules are planned anew. The page says how it went."""
        last = self._watched.reloaded
        if last is None or not 0 <= time.time_ns() - last.at < _RELOADS_APART:
            done = self._watched.reload()
            self._record(request, f"had the settings read anew{': they were refused' if done.refused else ''}")
        return see(self._link(request, "/alerts") + "#targets")

    def acknowledge(self, request: Request, fields: Fields) -> Response:
        """Acknowledge an alert."""
        id_: int = request.path_params["id"]
        note, who = fields.get("note", ""), fields.get("who", "")
        by = asking(request, who)
        done, wrong = _tried(lambda: actions.acknowledge(self._file, id_, by, note, time.time_ns()))
        if done is None:
            return self._one(request, id_, ack=AckForm(note, who, wrong))
        return see(self._link(request, f"/alerts/{id_}"))

    def _all(
        self,
        request: Request,
        asked: QueryParams,
        form: SilenceForm,
        made: str,
        status: HTTPStatus = HTTPStatus.OK,
        untried: str = "",
    ) -> Response:
        lists = self._lists.content(asked, self._frame.zone_of(request))
        return self._frame.page(
            request,
            "alerts/alerts.html.j2",
            "Alerts",
            status,
            silence=form,
            made=made,
            untried=untried,
            known=self._known(),
            **lists,
        )

    def _one(
        self, request: Request, id_: int, silence: SilenceForm | None = None, ack: AckForm | None = None
    ) -> Response:
        alert = alert_of(self._file, id_)
        if alert is None:
            hint = "Alerts are kept for 400 days after they ended. The page of alerts lists them."
            return self._frame.missing(request, f"There is no alert {id_}.", hint)
        usual = SilenceForm(alert.rule, alert.host or "*", alert.instance or "*", alert=str(id_))
        return self._frame.page(
            request,
            "alerts/alert.html.j2",
            f"Alert {id_}",
            HTTPStatus.UNPROCESSABLE_ENTITY if silence or ack else HTTPStatus.OK,
            silence=silence or usual,
            ack=ack or AckForm(),
            made=self._made(request),
            known=self._known(),
            **alert_page.content(self._watched, alert, request.query_params, self._frame.zone_of(request)),
        )

    def _record(self, request: Request, what: str) -> None:
        """Keep what was done; it was done, even if that cannot be kept."""
        _tried(lambda: add(self._file, asking(request), time.time_ns(), what))

    def _known(self) -> list[str]:
        return sorted(actions.known_rules(self._file))

    def _made(self, request: Request) -> str:
        """What the silence does that a form has just made."""
        asked = request.query_params.get("silenced", "")
        found = next((one for one in silences.active(self._file, time.time_ns()) if str(one.id) == asked), None)
        if found is None:
            return ""
        muted = firing(self._file).like(found.rule, found.host, found.instance)
        return f"{made_sentence(found, muted, self._frame.zone_of(request))}."

    def _link(self, request: Request, path: str, **parameters: str | int) -> str:
        return self._frame.links(request).to(path, **parameters)


_SILENCE_FIELDS = ("rule", "host", "instance", "length", "reason", "who", "alert")


def _tried(action: Callable[[], Done]) -> tuple[Done | None, str]:
    """What an action came to, or why it could not be done."""
    try:
        return action(), ""
    except (Unusable, NotKept) as error:
        return None, str(error)
