"""Who asks for what a page or a program changes, for the record and for what is changed."""

from starlette.requests import Request

from plimsoll.alerting.book.deeds import Who
from plimsoll.serve.people import person_of

LOOPBACK = "no login"


def asking(request: Request, typed: str = "", usual: str = "someone on the page") -> Who:
    """The user who is logged in; where nobody is, the name that was typed, or the usual one."""
    person = person_of(request)
    return Who(person.name or typed or usual, person.how or LOOPBACK)
