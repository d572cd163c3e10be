"""Principals: people with names and roles, and programs with tokens; and the role that a request needs."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from starlette.requests import HTTPConnection

_SCOPE = "plimsoll.person"
_SAFE = ("GET", "HEAD")
# The paths of changes that operators may make; all other changes need an admin.
_OF_OPERATORS = re.compile(
    r"/alerts/\d+/ack|/silences|/silences/\d+/end|/incidents/\d+/silence|/notes|/notes/\d+/remove"
    r"|/api/v1/alerts/\d+/acknowledgement|/api/v1/silences|/api/v1/silences/\d+|/api/v1/notes|/api/v1/notes/\d+"
)


class Role(StrEnum):
    """The role of a person or program: viewers read, operators change alerts, admins change everything."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def may(self, needed: "Role") -> bool:
        """Return whether this role includes all rights of the role `needed`."""
        order = [*Role]
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True)
class RolesOf:
    """The roles of people, by the groups that a proxy sends.

    `values` maps each role to its groups; `usual` is the role of people in none of these groups: None refuses them.
    """

    values: Mapping[Role, Collection[str]] = field(default_factory=dict[Role, Collection[str]])
    usual: Role | None = None

    def role(self, values: Iterable[str]) -> Role | None:
        """Return the highest role that a person's groups give; if they give none, the usual role."""
        groups = {*values}
        return next((role for role in reversed(Role) if groups & {*self.values.get(role, ())}), self.usual)


@dataclass(frozen=True, slots=True)
class Person:
    """The person or program that sent a request: its role, and its name (empty if unknown).

    `how` says how the sender was identified: `password`, `proxy`, `token ci`; it is empty if no login was needed.
    """

    name: str
    role: Role
    how: str = ""


NOBODY = Person("", Role.ADMIN)


def find_needed_role(method: str, path: str) -> Role:
    """Return the lowest role that may send a request with this method and path."""
    if method in _SAFE:
        return Role.VIEWER
    return Role.OPERATOR if _OF_OPERATORS.fullmatch(path) else Role.ADMIN


def find_person(request: HTTPConnection) -> Person:
    """Return the sender of a request, as identified by the guard."""
    return request.scope.get(_SCOPE, NOBODY)


def set_person(request: HTTPConnection, person: Person) -> None:
    """Record the sender of a request, for `find_person`."""
    request.scope[_SCOPE] = person
