"""Opens an InfluxDB that other programs filled, in any database, bucket and retention policy, with Telegraf's names."""

import os
from collections.abc import Callable, Mapping

from plimsoll.model.errors import Unusable
from plimsoll.receive.servers.address import ServerAddress
from plimsoll.receive.servers.renamed import RenamedSamples, StoredNames
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.samples import InfluxSamples
from plimsoll.store.influx.server import InfluxServer

_TOKEN, _USER, _PASSWORD = "INFLUX_TOKEN", "INFLUX_USER", "INFLUX_PASSWORD"


def open_samples(
    address: ServerAddress, signals: Mapping[str, Signal], names: StoredNames, notify: Callable[[str], None]
) -> RenamedSamples:
    """Return a reader of a database, with the token, or the user and password, from environment variables.

    `names` are the stored names that differ from Telegraf's. If `INFLUX_URL` is set, the token is sent to no other
    address. Raise Unusable if the address names no bucket or database.
    """
    named = address.settings
    bucket = named.get("bucket") or named.get("db")
    if not bucket:
        raise Unusable(f"{address.name}: name its bucket or database: {address.name}?db=telegraf")
    token, user, of_token = (os.environ.get(name, "") for name in (_TOKEN, _USER, "INFLUX_URL"))
    if user:  # InfluxDB 1 takes both as one token
        token = f"{user}:{os.environ.get(_PASSWORD, '')}"
    elif of_token and of_token.partition("?")[0].rstrip("/") != address.url:
        token = ""
    place = InfluxAddress(address.url, named.get("org", ""), bucket, token, policy=named.get("rp", ""))
    return RenamedSamples(InfluxSamples(InfluxServer(place, retry_s=30.0, waiting=notify)), names, signals)
