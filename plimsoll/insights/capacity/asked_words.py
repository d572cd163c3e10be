"""What a number of users needs, in sentences and as JSON."""

from datetime import date
from math import isnan
from typing import Any

from plimsoll.insights.capacity.asked import Asked, HostsNeeded
from plimsoll.insights.capacity.find import BEYOND, Capacity, Range
from plimsoll.insights.capacity.growth import Forecast
from plimsoll.insights.capacity.words import resource_text, rounded
from plimsoll.model.styled import Line
from plimsoll.model.value_text import number, percent, quantity

_MOST = 6


def asked_lines(found: Capacity, asked: Asked) -> tuple[Line, ...]:
    """What a terminal shows of it."""
    return tuple((f"  {one}",) for one in asked_sentences(found, asked))


def asked_sentences(found: Capacity, asked: Asked) -> tuple[str, ...]:
    """The use of each resource at so many users, the response time, and the hosts that are needed."""
    users = f"{rounded(asked.users)} users"
    hosts = tuple(_hosts(one) for one in asked.hosts)
    if asked.beyond:
        far = f"beyond {BEYOND:g} times the load that was measured"
        return (f"{users}: not known, as they are {far}; measure a higher load.", *hosts)
    projected = " (projected beyond what was measured)" if asked.load > found.highest else ""
    uses = [
        f"{resource_text(one.resource)} {_against(use, one.resource.limit)}"
        for one, use in zip(found.resources, asked.uses, strict=True)
    ]
    done = f"{rounded(asked.load)} {found.observed.title}/s{projected}"
    possible = not any(use.value >= 100 for use in asked.uses)
    said = [f"{users} {'do' if possible else 'cannot be served: they ask for'} {done}: {'; '.join(uses[:_MOST])}."]
    if asked.response is not None and found.response is not None:
        said.append(f"{found.response.response.signal.title} then: about {quantity(asked.response, 's')}{projected}.")
    return (*said, *hosts)


def _against(use: Range, limit: float) -> str:
    if isnan(use.value):
        return "not known"
    where = "beyond" if use.value > limit else "within" if use.high <= limit else "perhaps beyond"
    return f"{number(use.value)} % ({number(use.low)} to {number(use.high)}), {where} {percent(limit / 100)}"


def _hosts(one: HostsNeeded) -> str:
    by = resource_text(one.by.resource)
    return f"Needed: {one.count} hosts like {one.host}, if the load is spread evenly (by {by})."


def asked_json(found: Capacity, asked: Asked) -> dict[str, Any]:
    """The field `asked` of the JSON."""
    return {
        "users": asked.users,
        "load": asked.load,
        "known": not asked.beyond,
        "projected": asked.load > found.highest,
        "uses": [
            {
                "signal": one.resource.signal,
                "host": one.resource.subject.host,
                "instance": one.resource.subject.instance,
                **{name: None if isnan(value) else value for name, value in vars(use).items()},
            }
            for one, use in zip(found.resources, asked.uses, strict=False)
        ],
        "response_s": asked.response,
        "hosts_needed": [{"host": one.host, "count": one.count} for one in asked.hosts],
    }


def growth_sentence(found: Forecast) -> str:
    """When the limit is reached, with the interval; or that it is too far to tell."""
    since = f"Growing by {found.growth.text} from {rounded(found.now)} users"
    if found.day is None:
        return f"{since}, it is reached in more than 5 years: no date is told for that."
    if found.at_least:
        return f"{since}, what is projected is not left before {_month(found.day)}; later is not known."
    low = _month(found.low) if found.low else "–"
    high = f"to {_month(found.high)}" if found.high else "or later"
    return f"{since}, it is reached about {_month(found.day)} ({low} {high})."


def growth_json(found: Forecast) -> dict[str, Any]:
    """The field `growth` of the JSON."""
    days = {"day": found.day, "low": found.low, "high": found.high}
    return {
        "growth": found.growth.text,
        "users": found.now,
        "at_least": found.at_least,
        **{name: one.isoformat() if one else None for name, one in days.items()},
    }


def _month(day: date) -> str:
    return f"{day:%B %Y}"
