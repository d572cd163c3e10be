"""The limits of requests, so that no client can exhaust memory or connections."""

from dataclasses import dataclass, field

from plimsoll.receive.line_protocol.series_names import Bounds


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits of requests, in bytes, seconds and numbers; docs/security.yaml lists them.

    Times of samples may be from `past_s` ago to `future_s` from now. Agents may open `connections` connections, people
    `reserved` in addition, and one address `address_connections`. `bounds` are the limits on series and hosts.

    A request's body may have `body` bytes, and `unpacked` bytes when uncompressed. The bodies of all requests together
    may use `memory` bytes, those of one address `address_memory` bytes. A body must arrive within `body_s`, without a
    pause longer than `pause_s`. The head of a request, and the TLS handshake, must arrive within `head_s`.

    An upload may have `upload` bytes in `upload_files` files, and take `upload_s`. At most `uploads` uploads may arrive
    at a time, and `disk_margin` bytes must stay free on the disk.
    """

    body: int = 25 << 20
    unpacked: int = 100 << 20
    memory: int = 250 << 20
    address_memory: int = 100 << 20
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
