"""The limits of what `plimsoll up` takes over HTTP, so that no client can exhaust memory or hold connections."""

from dataclasses import dataclass, field

from plimsoll.receive.line_protocol.series_names import Bounds


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """RequestLimits, in bytes, seconds and numbers. docs/security.md names them.

    Values must be of times from `past_s` ago to `future_s` from now, as the store keeps a part for each day.
    `connections` may be open for agents, and `reserved` more for people; `address_connections` of one address. `bounds`
    are those of series and hosts.

    `body` and `unpacked` are for one request, `held` for the bodies of all requests, and `address_held` for those of
    one address. A body must arrive within `body_s`, with no pause longer than `pause_s`; the head of a request, and
    what TLS begins with, within `head_s`.

    The logs of one run that are uploaded may have `upload` bytes in `upload_files` files, and take `upload_s` to
    arrive; `uploads` may arrive at the same time, while `disk_margin` stays free on the disk.
    """

    body: int = 25 << 20
    unpacked: int = 100 << 20
    held: int = 250 << 20
    address_held: int = 100 << 20
    own_body: int = 250 << 20
    head: int = 32 << 10
    head_s: float = 10
    pause_s: float = 15
    body_s: float = 120
    idle_s: float = 75
    connections: int = 2000
    reserved: int = 200
    address_connections: int = 1000
    bounds: Bounds = field(default_factory=Bounds)
    past_s: float = 400 * 86_400
    future_s: float = 86_400
    stop_s: float = 20
    upload: int = 4 << 30
    upload_files: int = 1000
    upload_s: float = 6 * 3600
    uploads: int = 4
    disk_margin: int = 1 << 30
