"""Receives the forms of pages: routes, senders, and the numbers and addresses in requests."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from plimsoll.alerting.actions import Actor, write_audit_entry
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.principals import find_person
from plimsoll.serve.request_body import Bodies, Full, TooLarge, TooSlow
from plimsoll.up.watched import Watched

_NO_LOGIN = "no login"
_MOST_DIGITS = 18  # as many as databases hold; longer numbers lead to no page
ID = "{id:number}"  # in the path of a route


class _Number(Convertor[int]):
    regex = f"[0-9]{{1,{_MOST_DIGITS}}}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", _Number())


Fields = Mapping[str, str]
_LONGEST = 32 << 10
_MOST_FIELDS = 20
_LONGEST_ADDRESS = 1000
_MOST_PAGES = 10**7
_bodies = Bodies(RequestLimits(body_s=20))


def list_form_routes(path: str, handle: Callable[[Request, Fields], Response], page: str | None = None) -> list[Route]:
    """Return the route that receives a form at `path`; `page` adds a route that redirects GET at `path` to `page`.

    `handle` is called in a thread, with the form's fields, whose values are stripped of spaces.
    """

    async def endpoint(request: Request) -> Response:
        try:
            async with _bodies.read(request, _LONGEST) as body:
                pairs = parse_qsl(body.decode(errors="replace"), max_num_fields=_MOST_FIELDS)
        except (TooLarge, ValueError):
            return PlainTextResponse("The form is too long.\n", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except (TooSlow, Full):
            return PlainTextResponse("The form did not arrive; send it again.\n", HTTPStatus.REQUEST_TIMEOUT)
        return await run_in_threadpool(handle, request, {name: value.strip() for name, value in pairs})

    receiver = Route(path, endpoint, methods=["POST"])
    return (
        [receiver, Route(path, lambda request: redirect_to(page.format(**request.path_params)))] if page else [receiver]
    )


def keep_own_address(text: str) -> str:
    """Return only the path and query of a URL, so that it is on this server; `/` if the path is not absolute."""
    url = urlsplit(text[:_LONGEST_ADDRESS])
    path = url.path if url.path.startswith("/") and not url.path.startswith(("//", "/\\")) else "/"
    return f"{path}?{url.query}" if url.query else path


def redirect_to(address: str) -> Response:
    """Return a redirect to a page, as the answer to an accepted form."""
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


def count_before(page: str, at_once: int) -> int:
    """Return how many entries precede a page of a list. `page` is the page's number from an address, 1 if invalid."""
    return (min(max(number(page) or 1, 1), _MOST_PAGES) - 1) * at_once


def number(text: str) -> int | None:
    """Return a text as a number; None if it is not a number, or too long."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def find_actor(request: Request, typed: str = "") -> Actor:
    """Return the sender of a form: the login, else the name `typed` in the form, else someone on the page."""
    person = find_person(request)
    return Actor(person.name or typed or "someone on the page", person.how or _NO_LOGIN)


def record_action(watched: Watched, actor: Actor, action: str) -> None:
    """Add an action to the audit log. A failure is ignored, as the action is already done."""
    with suppress(NotKept):
        write_audit_entry(watched.file, actor, time.time_ns(), action)
