"""The words for a healthy run: `Healthy.`, or what of it is healthy where less than all was asked for."""

from collections.abc import Sequence

from plimsoll.review.findings import JUDGED, Finding
from plimsoll.review.judged_resources import NAMES, RESOURCES, and_text
from plimsoll.rules.schema.field_types import Resource


def healthy_text(findings: Sequence[Finding], judged: Sequence[Resource]) -> str:
    """The verdict on a healthy run; `judged` are the resources that were judged on every host."""
    others = [NAMES[one] for one in RESOURCES if one not in judged]
    if not others:
        return "Healthy."
    if not judged:
        return f"Healthy by what was asked for; {and_text(others)} were not judged."
    names = and_text([NAMES[one] for one in judged])
    counted = (one for one in findings if one.severe and one.outcome in JUDGED)
    more = any((one.signal.resource or "").replace("space", "disk") not in judged for one in counted)
    verb = "was" if others == [NAMES["memory"]] else "were"
    rest = f"{and_text(others)} {verb} not judged" if more else "nothing else was judged"
    return f"{names[:1].upper()}{names[1:]} healthy; {rest}."
