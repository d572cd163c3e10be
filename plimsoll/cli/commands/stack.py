"""`plimsoll stack`: the real Telegraf and InfluxDB on this machine, where there is no Docker."""

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plimsoll.cli.console import print_line
from plimsoll.cli.outputs import STDOUT, write_json
from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, parse_duration
from plimsoll.native import folders, settings
from plimsoll.native.stack import Stack, Status

NOT_RUNNING = 3
_SHORTEST_RETENTION_S = 3600  # InfluxDB's minimum
_FOREVER = "forever"


def start(folder: Path | None, port: int | None, retention: str | None) -> None:
    """Build what is not built, start what is not running, and print where it is."""
    stack = _stack(folder)
    stack.start(port, None if retention is None else _seconds(retention))
    _print(stack.status())
    print_line((f"tokens and password: {stack.influxdb.env_file}", "dim"))


def stop(folder: Path | None) -> None:
    """Stop what is running."""
    stack = _stack(folder)
    stopped = stack.stop() if stack.folder.is_dir() else []
    print_line(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")


def status(folder: Path | None, json: Path | None) -> int:
    """Print what is running; returns 0 if both servers are, else 3."""
    found = _stack(folder).status()
    if json is not None:
        write_json(json, json_module.dumps(_as_json(found), indent=2))
    if json != STDOUT:
        _print(found)
    return 0 if found.running else NOT_RUNNING


def env(out: Path) -> None:
    """Write the settings and secrets that docker compose needs. Unusable if the file exists already."""
    if out.exists():
        raise Unusable(
            f"{out}: is there already, and its secrets may be in use; name another file, or move it away to begin anew"
        )
    settings.write(
        out, settings.for_docker(), "Made by plimsoll stack env: what docker-compose.yml needs. Keep it secret"
    )
    print_line(f"{out}: written, readable by you alone; next: docker compose up -d")


def _stack(folder: Path | None) -> Stack:
    return Stack((folder or folders.stack()).absolute())


def _seconds(retention: str) -> int:
    if retention == _FOREVER:
        return 0
    try:
        seconds = parse_duration(retention) // SECOND
    except ValueError:
        raise Unusable(f'--retention "{retention}": write it like 90d or 12h, or {_FOREVER}') from None
    if seconds < _SHORTEST_RETENTION_S:
        raise Unusable(f"--retention {retention}: InfluxDB keeps data for at least 1h")
    return seconds


def _print(found: Status) -> None:
    for part in found.parts:
        if running := part.running:
            since = f"pid {running.pid}, since {running.since}"
            print_line((f"{part.title:<8}", "bold"), f" {running.version} running, {since}; log {part.log}")
        else:
            print_line((f"{part.title:<8}", "bold"), " not running")
    if found.url:
        silent = "" if found.answers or not found.parts[0].running else ", which does not answer"
        print_line(f"{found.url}{silent}; {found.bytes_used / 1e6:,.1f} MB in {found.folder}")


def _as_json(found: Status) -> dict[str, Any]:
    """What is running, as JSON of the schema plimsoll.stack/1."""
    return {
        "schema": "plimsoll.stack/1",
        "running": found.running,
        "url": found.url or None,
        "folder": str(found.folder),
        "bytes_used": found.bytes_used,
        "servers": [
            {
                "name": part.title,
                "log": str(part.log),
                **(asdict(part.running) if part.running else {"pid": None, "version": None, "since": None}),
            }
            for part in found.parts
        ],
    }
