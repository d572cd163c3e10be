"""Opens the store to read and write: an InfluxDB, a VictoriaMetrics, a folder of runs, or the embedded store."""

import logging
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from plimsoll.api import data_folder
from plimsoll.api.store_address import store_address
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.store.duck import duck_store as duck
from plimsoll.store.folders.runs import RunFolders, find_folder_of_runs, make_store_of_runs
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.store import Store
from plimsoll.store.victoriametrics.address import TOKEN, VictoriaMetricsAddress, is_victoriametrics
from plimsoll.up import running

if TYPE_CHECKING:
    from plimsoll.rules.schema.signal import Signal

Notify: TypeAlias = Callable[[str], None]
_log = logging.getLogger(__name__)


@contextmanager
def open_store(
    named: str | None,
    *,
    make: bool = False,
    notify: Notify = _log.warning,
    signals: Callable[[], Mapping[str, "Signal"]] | None = None,
) -> Generator[Store]:
    """Open the named store: URL, folder or file. If None, open the server of `store_address`, else the default store.

    `runs:FOLDER` is a folder of runs. With `make`, a missing embedded store or folder of runs is created. `notify` is
    called with messages on which token is used and what is waited for. `signals` (default: the shipped signals) say
    how names in VictoriaMetrics are split. Raise Unusable if there is no store, or no token.
    """
    folder = data_folder.find_default_folder()
    if named is not None and is_victoriametrics(named):
        address_of_live = VictoriaMetricsAddress.parse(named, os.environ.get(TOKEN, ""))
        with open_embedded(folder, make=True) as beside:
            yield open_victoria_store(address_of_live, beside, signals)
        return
    if named is not None and (runs := find_folder_of_runs(named)) is not None:
        yield make_store_of_runs(RunFolders.open(runs, make=make))
        return
    if named is not None and Path(named).is_file():
        with closing(duck.open_embedded(Path(named))) as store:
            yield store
        return
    if named is not None and Path(named).is_dir():
        folder, address = Path(named), None
    elif named is not None and (server := running.find(folder)) and named.rstrip("/") == server.address:
        address = None
    elif named is not None and "://" not in named:
        raise Unusable(
            f"{Parameter.STORE} {named}: there is no such folder or file; make the folder, or name an address, "
            "as http://127.0.0.1:8086"
        )
    else:
        address = store_address(named, os.environ)
    if address is None:
        with open_embedded(folder, make=make) as store:
            yield store
        return
    with closing(open_influx_store(address, notify)) as store:
        yield store


def open_influx_store(address: InfluxAddress, notify: Notify) -> Store:
    """Open the InfluxDB at an address. `notify` is as in `open_store`."""
    # Imported here because the client is slow to import and rarely needed.
    from plimsoll.store.influx.runs import open_influx  # noqa: PLC0415

    if address.token_file:
        notify(f"store: {address.url}, with the token in {address.token_file}")
    return open_influx(address, waiting=notify)


def open_victoria_store(
    address: VictoriaMetricsAddress, beside: Store, signals: Callable[[], Mapping[str, "Signal"]] | None = None
) -> Store:
    """Open the VictoriaMetrics at an address. `beside` is the store of runs; `signals` are as in `open_store`."""
    from plimsoll.store.victoriametrics.samples import open_victoria  # noqa: PLC0415

    def measurements() -> set[str]:
        from plimsoll.rules.load import load  # noqa: PLC0415

        all_signals = (signals() if signals else load().signals).values()
        return {source.measurement for signal in all_signals for source in signal.sources if source.measurement}

    return open_victoria(address, beside, measurements)


def open_embedded(folder: Path, *, make: bool = False) -> closing[Store]:
    """Open the embedded store in a data folder; if `plimsoll up` runs on the folder, open it through that server.

    Raise Unusable if there is no store, unless `make`, which creates it.
    """
    server = running.find(folder)
    if server:
        from plimsoll.serve.credentials import load_owner_token  # noqa: PLC0415
        from plimsoll.store.remote import make_remote_store  # noqa: PLC0415

        return closing(make_remote_store(server.address, load_owner_token(folder), server.check_listens))
    if make:
        data_folder.prepare(folder)
    elif not (folder / duck.FILE).exists():
        raise Unusable(
            f"no store: {folder} has none yet; plimsoll ingest or plimsoll up makes it; or name an InfluxDB "
            f"with {Parameter.STORE} http://HOST:8086 and its token in INFLUX_TOKEN"
        )
    return closing(duck.open_embedded(folder / duck.FILE))
