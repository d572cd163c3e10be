"""Run by a Python for Windows as a service: writes the controls that it receives to a file."""

import sys
from pathlib import Path
from threading import Event

sys.path.insert(0, str(Path(__file__).parents[2]))

from plimsoll.up.service.windows_service import Service

TOLD = Path(sys.argv[1])
stopping = Event()


def tell(line: str) -> None:
    """Add a line to the file."""
    with TOLD.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def run() -> int:
    """Wait for the control to stop."""
    tell("runs")
    stopping.wait(120)
    tell("ends")
    return int(sys.argv[2])


if __name__ == "__main__":
    try:
        Service("PlimsollTest", run, stopping.set, lambda: tell("reads anew")).serve()
    except OSError as error:
        tell(str(error))
