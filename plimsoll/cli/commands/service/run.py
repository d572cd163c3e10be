"""`plimsoll service run`: the service of Windows.

The service manager waits for a sign of the process for 30 s, so it is given before anything slow is imported.
"""

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.up import log_lines
from plimsoll.up.service import control_events
from plimsoll.up.service.windows_service import NAME, Service

_UNUSABLE, _UNREACHABLE, _DEFECT = 2, 3, 70
_log = logging.getLogger("plimsoll.service")


def run(plimsoll: Callable[..., Any], arguments: Sequence[str], log: Path) -> None:
    """Be the service until the service manager ends it. Unusable if none has started this.

    `plimsoll` runs the command line with a list of arguments.
    """
    streams = sys.stdout, sys.stderr
    try:
        service = Service(
            NAME, lambda: _up(plimsoll, arguments, log), control_events.to_stop.set, control_events.to_reload.set
        )
        # A service has no console. What plimsoll up prints when it starts goes beside the log.
        with log.with_name("started.txt").open("w", encoding="utf-8") as said:
            sys.stdout = sys.stderr = said
            service.serve()
    except OSError as error:
        raise Unusable(f"Windows alone can start this, as a service: {error}") from None
    finally:
        sys.stdout, sys.stderr = streams


def _up(plimsoll: Callable[..., Any], arguments: Sequence[str], log: Path) -> int:
    log_lines.set_up(log)
    try:
        return plimsoll(["up", "--log", str(log), *arguments], prog_name="plimsoll", standalone_mode=False) or 0
    except (Unusable, Unreachable, typer.TyperException) as error:
        _log.critical("%s", error)
        return _UNREACHABLE if isinstance(error, Unreachable) else _UNUSABLE
    except BaseException:  # those of polars are no Exception
        _log.exception("a defect of Plimsoll")
        return _DEFECT
