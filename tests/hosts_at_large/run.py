"""Tries every host, or those whose name holds the words given: `python -m tests.hosts_at_large.run [WORDS]`."""

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from plimsoll.cli import cli
from tests.insights.diagnosis import contradictions

from .linux import hosts
from .recording import Host
from .roles import roles
from .shapes import shapes
from .windows import instances, resources


def everyone() -> list[Host]:
    """All hosts."""
    return [*resources(), *instances(), *roles(), *shapes(), *hosts()]


def reviewed(host: Host, folder: Path) -> dict[str, Any]:
    """The JSON of the review of a host, by the command line."""
    path, found = host.write(folder), folder / "review.json"
    before, sys.argv = sys.argv, ["plimsoll", "review", str(path), "--json", str(found)]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            cli.main()
    except SystemExit as ended:
        if ended.code:
            return {"verdict": "failed", "headline": said.getvalue()}
    finally:
        sys.argv = before
    return json.loads(found.read_text(encoding="utf-8"))


def main() -> None:
    """Print the hosts that are judged otherwise."""
    chosen = [one for one in everyone() if all(word in one.name for word in sys.argv[1:])]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, host in enumerate(chosen):
            found = reviewed(host, Path(folder) / str(number))
            if found["verdict"] != host.verdict or host.needs not in str(found["headline"]):
                wrong += 1
                print(f"{host.name}: {found['verdict']}\n    {found['headline']}", flush=True)
            for one in contradictions(found):
                print(f"{host.name}: {one}", flush=True)
    print(f"{wrong} of {len(chosen)} wrong")


if __name__ == "__main__":
    main()
