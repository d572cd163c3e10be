"""What a documented system carries, in sentences and as JSON."""

from typing import Any

from plimsoll.insights.capacity.profiles.documented import DocumentedCapacity, Reached, Use
from plimsoll.model.document import Bullets, Verdict
from plimsoll.model.value_text import number, percent

SCHEMA = "plimsoll.capacity-profile/1"


def blocks(found: DocumentedCapacity) -> tuple[Verdict, Bullets]:
    """Build what a terminal shows."""
    return Verdict(answer(found), ""), Bullets(sentences(found))


def answer(found: DocumentedCapacity) -> str:
    """How many users, before what is reached; then what comes next."""
    if not found.reached:
        return "Not known: the profile gives no limit."
    first, *others = found.reached
    then = f"; then {_reached(others[0])} at {number(others[0].users)} users" if others else ""
    return f"About {number(first.users)} users before {_reached(first)}{then}."


def sentences(found: DocumentedCapacity) -> tuple[str, ...]:
    """The use at the wanted number of users, and where the figures are from."""
    profile = found.profile
    source = f"By the costs of {profile.document}" if profile.document else "By the costs of the profile"
    said = [f"{source}: {profile.title}, {found.variant.replace('-', ' ')}."]
    if found.users is not None and found.uses:
        said.append(f"{number(found.users)} users: {', '.join(_use(one) for one in found.uses)}.")
    said += [
        f"Beyond what was measured: {_plain(name)} more often than {_most(found, name)} /s." for name in found.beyond
    ]
    return tuple(said)


def document(found: DocumentedCapacity) -> dict[str, Any]:
    """The JSON."""
    return {
        "schema": SCHEMA,
        "answer": answer(found),
        "sentences": list(sentences(found)),
        "profile": found.profile.title,
        "variant": found.variant,
        "users": found.users,
        "uses": [vars(one) for one in found.uses],
        "limits": [vars(one) for one in found.reached],
        "beyond_measured": list(found.beyond),
    }


def _reached(one: Reached) -> str:
    if one.why == "answered":
        more = "; along its last part beyond what was measured" if one.extended else ""
        return f"{_plain(one.what)} is asked for more often than it was answered at most ({number(one.limit)} /s{more})"
    if one.why:
        return f"{_plain(one.what)} reaches {number(one.limit)} /s ({one.why})"
    return f"{one.what[:1].lower() + one.what[1:]} reaches {number(one.limit)} {one.unit}"


def _use(one: Use) -> str:
    share = f" ({percent(one.share)})" if one.share is not None else ""
    return f"{one.title[:1].lower() + one.title[1:]} {_exact(one.use)} {one.unit}{share}"


def _exact(value: float) -> str:
    """As many digits as the documents print."""
    return f"{value:,.3f}".rstrip("0").rstrip(".") if value < 1000 else f"{value:,.0f}"


def _most(found: DocumentedCapacity, name: str) -> str:
    return number(found.profile.costs[found.variant].most[name])


def _plain(name: str) -> str:
    return name.replace("_", " ")
