"""One InfluxDB for all processes of a test run (pytest-xdist): the first to need it starts it, the last ends it."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.influx import InfluxDB


@contextmanager
def shared_influxdb(folder: Path) -> Generator[dict[str, str]]:
    """The settings of the InfluxDB in a folder, which runs while any process is in here.

    Each holds a shared lock, which the system takes from a process that dies: who then gets the exclusive one is the
    last. A process that comes later starts the server anew, with its data.
    """
    if sys.platform == "win32":
        raise NotImplementedError("servers are not run in the background on Windows")
    import fcntl

    folder.mkdir(exist_ok=True)
    with (folder / "users.lock").open("ab") as users, (folder / "turn.lock").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        server = InfluxDB(folder)
        result = server.running() or server.start()
        fcntl.flock(turn, fcntl.LOCK_UN)
        try:
            yield result
        finally:
            fcntl.flock(turn, fcntl.LOCK_EX)
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass  # others use it
            else:
                server.stop()
