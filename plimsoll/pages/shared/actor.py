"""The person or program that makes a request, for the audit log."""

import time
from contextlib import suppress

from starlette.requests import Request

from plimsoll.alerting.actions import Actor, audit
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.serve.principals import person_of
from plimsoll.up.watched import Watched

_NO_LOGIN = "no login"


def actor_of(request: Request, typed: str = "", usual: str = "someone on the page") -> Actor:
    """Return the user who is logged in; without a login one with the typed name, or the usual one."""
    person = person_of(request)
    return Actor(person.name or typed or usual, person.how or _NO_LOGIN)


def record_action(watched: Watched, actor: Actor, action: str) -> None:
    """Add an action to the audit log. A failure is ignored: the action is done already."""
    with suppress(NotKept):
        audit(watched.file, actor, time.time_ns(), action)
