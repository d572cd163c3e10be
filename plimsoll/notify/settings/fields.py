"""The types of the settings in up.toml, as they are written there: durations, sizes, times of the day, zones."""

import ipaddress
import re
from datetime import time
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone, parse_duration

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(MB|GB|TB)")
_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


class Strict(BaseModel):
    """A section; what it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, hide_input_in_errors=True)


def _duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str | int | float) else value


def _zone(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return Zone.parse(value)
    except Unusable as error:
        raise ValueError(str(error)) from None


def _size(value: object) -> object:
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("is not a size; write it like 20 GB")
    return round(float(match[1]) * _UNITS[match[2]])


def _clock(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        return time.fromisoformat(value)
    if isinstance(value, time):
        return value
    raise ValueError("is not a time of the day; write it like 22:00")


def _network(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return ipaddress.ip_network(value)
    except ValueError:
        raise ValueError("is no address of a proxy; write 10.0.0.7, or 10.0.0.0/28") from None


Network = Annotated[ipaddress.IPv4Network | ipaddress.IPv6Network, BeforeValidator(_network)]
Duration = Annotated[int, BeforeValidator(_duration)]  # ns
Size = Annotated[int, BeforeValidator(_size)]  # bytes
Clock = Annotated[time, BeforeValidator(_clock)]
Name = Annotated[str, Field(min_length=1)]
ZoneField = Annotated[Zone, BeforeValidator(_zone)]


def check_http(address: str) -> None:
    """ValueError unless it is an address of HTTP."""
    if not re.match(r"https?://[^/\s]+", address):
        raise ValueError("is not an http:// or https:// address")
