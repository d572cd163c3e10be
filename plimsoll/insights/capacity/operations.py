"""The operations of a run whose rates are its load: of the load driver, else of the tier that clients talk to."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.model.samples import Samples
from plimsoll.review.phases.load import together
from plimsoll.review.review import Review

# What clients ask for comes before what a tier behind it is asked for in turn; operations of two tiers are not added.
_TIERS = ("client", "web", "exchange", "ldap", "sql")
# A sum of others of the list, or what others of the same tier are parts of.
_WHOLES = {"ldap.write_rate", "ldap.request_rate", "sql.transactions"}
_EACH, _ALL = "client.operation_requests", "client.requests"
_USERS = "client.users"
_SMALL = 0.002  # our choice: of all operations: rarer ones are left out, as their demand cannot be estimated


@dataclass(frozen=True, eq=False)
class Operations:
    """The rates of operations (a second), and what they are called together.

    `users` is the number of users or connections at work, if it was recorded; `users_unit` what they are.
    """

    title: str
    unit: str
    rates: Mapping[str, Samples]
    users: Samples | None
    users_unit: str
    of_driver: bool


def operations(review: Review) -> Operations | None:
    """The operations of a run; None if no load was recorded."""
    loads = {one.name: one for one in review.loads if one.kind == "operations"}
    signals = review.question.signals
    users = next((one for one in review.loads if one.name == _USERS), None)
    known_users = users.samples if users else None
    if _ALL in loads:
        each = {one.instance or "": samples for one, samples in review.signals.of(_EACH).items()}
        rates = _large(each) if len(each) > 1 else {}
        whole = loads[_ALL]
        return Operations("requests", "/s", rates or {whole.signal.title: whole.samples}, known_users, "users", True)
    for tier in _TIERS:
        found = {name: one for name, one in loads.items() if name.partition(".")[0] == tier}
        parts = {name: one for name, one in found.items() if name not in _WHOLES} or found
        if tier == "sql":
            parts = {name: parts[name] for name in list(parts)[:1]}
        if parts:
            held = next((one for one in review.loads if one.kind == "connections" and one.name.startswith(tier)), None)
            rates = _large({signals[name].title: one.samples for name, one in parts.items()})
            title = next(iter(rates)) if len(rates) == 1 else "operations"
            return Operations(
                title, "/s", rates, held.samples if held else None, held.signal.unit if held else "", of_driver=False
            )
    for name, one in loads.items():
        _, samples = together(review.signals.of(name))
        return Operations(one.signal.title, one.signal.unit, {one.signal.title: samples}, None, "", of_driver=False)
    return None


def _large(rates: Mapping[str, Samples]) -> dict[str, Samples]:
    """The operations that are not rare, those done most first."""
    means = {name: float(samples.present.values.mean()) for name, samples in rates.items()}
    total = sum(means.values())
    names = sorted((name for name in means if means[name] > _SMALL * total), key=lambda name: -means[name])
    return {name: rates[name] for name in names}
