"""`plimsoll rules new`."""

import re
from collections.abc import Sequence
from pathlib import Path

import typer

from plimsoll.api.inputs import read
from plimsoll.cli import args
from plimsoll.cli.console import print_line
from plimsoll.cli.outputs import write_text
from plimsoll.model.counter_names.unrecognised import UnknownCounter, unknown_counters
from plimsoll.model.errors import Unusable, printable
from plimsoll.model.remark import counted
from plimsoll.model.shipped_tables import shipped_files
from plimsoll.rules.load import YAML, load_packs
from plimsoll.rules.pack_from_log import chosen, pack_text
from plimsoll.rules.schema import document

# The first line of the template names this file.
SCHEMA = "plimsoll-pack.schema.json"
_TEMPLATE = "new_pack.yaml"
_HEAD = f"# yaml-language-server: $schema={SCHEMA}"


def new_pack(
    path: Path = typer.Argument(..., help="The file to write: mine.yaml.", metavar="FILE"),
    from_log: list[str] | None = typer.Option(
        None,
        "--from",
        help="A log: write a signal for each of its Windows counters that none reads yet. Repeat for more.",
        metavar="LOG",
    ),
    counter: list[str] | None = typer.Option(
        None,
        "--counter",
        help="With --from, only counters that match; * is any text: 'Shop Orders\\*'. Repeat for more.",
    ),
) -> None:
    """Write a pack to begin with, and beside it the JSON schema for editors.

    It is an example with comments; with --from, it has a signal for each counter that no signal reads.
    """
    if counter and not from_log:
        raise Unusable("--counter is for the counters of a log: name it with --from")
    if path.suffix not in YAML:
        raise Unusable(f"{path}: a pack is a .yaml file; write it like {path.stem or 'mine'}.yaml")
    beside = path.parent / SCHEMA
    schema = document.shipped(document.PACK)
    try:
        if path.exists():
            raise Unusable(f"{path}: exists already, and is not written over; name another file")
        ours = not beside.exists() or document.TITLES[document.PACK] in beside.read_text(
            encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read: {error.strerror}") from None
    if not ours:
        raise Unusable(f"{beside}: is not Plimsoll's, and is not written over; name a file in another folder")
    name = _name(path)
    if from_log:
        counters = _choose(from_log, counter or ())
        write_text(beside, schema)
        write_text(path, pack_text(name, _HEAD, counters))
        count = counted(len(counters), "counter")
        print_line(f"{path}: a signal for {count}; write rules on them, then plimsoll rules check {path}")
        return
    template = shipped_files("rules").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    text = (
        template.replace("my-pack", name)
        .replace("my_pack", name.replace("-", "_"))
        .replace("FILE", printable(str(path)))
    )
    write_text(beside, schema)
    write_text(path, text)
    print_line(f"{path}: an example to change; check it with plimsoll rules check {path}")


def _choose(logs: Sequence[str], patterns: Sequence[str]) -> list[UnknownCounter]:
    unknown = unknown_counters(series for log in read(args.typed_inputs(logs)).logs for series in log.series)
    if not unknown:
        raise Unusable(f"{logs[0]}: every Windows counter in it has a signal already")
    if matches := chosen(unknown, patterns):
        return matches
    raise Unusable(f"no counter without a signal matches {', '.join(patterns)}; plimsoll show {logs[0]} lists them")


def _name(path: Path) -> str:
    """Return a pack's name from its file's: lower case and hyphens; `my-` is put before the name of a shipped pack."""
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.casefold()).strip("-") or "mine"
    return f"my-{name}" if name in {pack.pack for pack in load_packs()} else name
