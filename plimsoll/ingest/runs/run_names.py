"""Names and labels of runs, as they are typed."""

from plimsoll.model.errors import Unusable
from plimsoll.model.remark import short

_LONGEST_NAME = 200


def refuse_name(name: str, place: str) -> None:
    """Unusable if a run cannot have this name; `place` is where it was typed."""
    # InfluxDB takes no tag that ends in a backslash.
    valid = name.strip() == name and name.isprintable() and not name.endswith("\\") and len(name) <= _LONGEST_NAME
    if not name or not valid:
        raise Unusable(
            f'{place} "{short(name)}": give a name of 1 to {_LONGEST_NAME} characters that can be seen, without spaces '
            "at its ends or a last \\"
        )


def run_label(text: str, place: str) -> tuple[str, str]:
    """The name and value of a label written `name=value`. Unusable if it is not; `place` is where it was typed."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not text.isprintable():
        raise Unusable(f'{place} "{text}": write it like logon_rate=36')
    return name.strip(), value.strip()
