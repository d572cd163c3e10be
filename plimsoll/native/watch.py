"""Ends Telegraf when InfluxDB has ended: `python -m plimsoll.native.watch FOLDER`, started by `plimsoll stack start`.

Telegraf would go on sending its token to whichever program gets the port of InfluxDB next.
"""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from plimsoll.native.background import Background


def main(folder: Path) -> None:
    """Wait until InfluxDB ends, and kill the Telegraf that runs now if it still does."""
    telegraf = Background("telegraf", folder)
    watched = telegraf.running()
    Background("influxd", folder).wait_for_end()
    if watched and telegraf.running() == watched:
        with suppress(ProcessLookupError):
            # SIGTERM would make it send its last samples, and its token with them.
            os.kill(watched.pid, signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
