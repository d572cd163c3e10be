"""Actor asks for what a page or a program changes, for the record and for what is changed."""

import time
from contextlib import suppress

from starlette.requests import Request

from plimsoll.alerting.actions import Actor, add
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.serve.principals import person_of
from plimsoll.up.watched import Watched

LOOPBACK = "no login"


def asking(request: Request, typed: str = "", usual: str = "someone on the page") -> Actor:
    """The user who is logged in; where nobody is, the name that was typed, or the usual one."""
    person = person_of(request)
    return Actor(person.name or typed or usual, person.how or LOOPBACK)


def record(watched: Watched, who: Actor, what: str) -> None:
    """Record that somebody did something that is kept elsewhere: it is done even if the record cannot be written."""
    with suppress(NotKept):
        add(watched.file, who, time.time_ns(), what)
