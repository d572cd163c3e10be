"""Principals: people with names and roles, and programs with tokens; and which role a request needs."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from starlette.requests import HTTPConnection

_SCOPE = "plimsoll.person"
_SAFE = ("GET", "HEAD")
# What an operator may change; whatever else is changed is an admin's.
_OF_OPERATORS = re.compile(
    r"/alerts/\d+/ack|/silences|/silences/\d+/end|/incidents/\d+/silence|/notes|/notes/\d+/remove|/api/notes"
    r"|/api/v1/alerts/\d+/acknowledgement|/api/v1/silences|/api/v1/silences/\d+|/api/v1/notes|/api/v1/notes/\d+"
)


class Role(StrEnum):
    """What somebody may do: read; also silence, acknowledge and make notes; also runs and settings."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def may(self, needed: "Role") -> bool:
        """Return whether it is the needed role, or one that may do more."""
        order = [*Role]
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True)
class RolesOf:
    """The roles of people, by what a proxy says of them: groups, as a rule.

    `values` of each role; `usual` is that of people who have none of these, None: they are refused.
    """

    values: Mapping[Role, Collection[str]] = field(default_factory=dict[Role, Collection[str]])
    usual: Role | None = None

    def role(self, values: Iterable[str]) -> Role | None:
        """Return the role that may do most of those that somebody has."""
        groups = {*values}
        return next((role for role in reversed(Role) if groups & {*self.values.get(role, ())}), self.usual)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who asks.

    Attributes:
        name: Of a user; empty if nobody has said who asks.
        role: What they may do.
        how: By what they are known: `password`, `proxy`, `token ci`; empty where nothing is needed.
    """

    name: str
    role: Role
    how: str = ""

    def given_by(self, role: Role) -> str:
        """Return what gives them another role."""
        return f"plimsoll users role {self.name} {role}"


NOBODY = Person("", Role.ADMIN)


def needed(method: str, path: str) -> Role:
    """Return the role that a request needs."""
    if method in _SAFE:
        return Role.VIEWER
    return Role.OPERATOR if _OF_OPERATORS.fullmatch(path) else Role.ADMIN


def person_of(request: HTTPConnection) -> Person:
    """Return who sent a request, as the guard has identified them."""
    return request.scope.get(_SCOPE, NOBODY)


def set_person(request: HTTPConnection, person: Person) -> None:
    """Tell those that handle a request who sent it."""
    request.scope[_SCOPE] = person
