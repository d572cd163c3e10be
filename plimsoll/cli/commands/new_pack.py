"""`plimsoll rules new`."""

import re
from pathlib import Path

from plimsoll.cli.console import print_line
from plimsoll.cli.outputs import write_text
from plimsoll.model.errors import Unusable, printable
from plimsoll.model.shipped_files import shipped_files
from plimsoll.rules.load import YAML, load_packs
from plimsoll.rules.schema import json_schema

# The first line of the template names this file.
SCHEMA = "plimsoll-pack.schema.json"
_TEMPLATE = "new_pack.yaml"


def run(path: Path) -> None:
    """Write an example pack, and beside it the JSON schema that its first line names.

    Unusable if the file exists already, or if its name is not that of a pack.
    """
    if path.suffix not in YAML:
        raise Unusable(f"{path}: a pack is a .yaml file; write it like {path.stem or 'mine'}.yaml")
    beside = path.parent / SCHEMA
    schema = json_schema.shipped(json_schema.PACK)
    try:
        if path.exists():
            raise Unusable(f"{path}: exists already, and is not written over; name another file")
        ours = not beside.exists() or json_schema.TITLES[json_schema.PACK] in beside.read_text(
            encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read: {error.strerror}") from None
    if not ours:
        raise Unusable(f"{beside}: is not Plimsoll's, and is not written over; name a file in another folder")
    name = _name(path)
    template = shipped_files("rules").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    text = (
        template.replace("my-pack", name)
        .replace("my_pack", name.replace("-", "_"))
        .replace("FILE", printable(str(path)))
    )
    write_text(beside, schema)
    write_text(path, text)
    print_line(f"{path}: an example to change; check it with plimsoll rules check {path}")


def _name(path: Path) -> str:
    """A pack's name from its file's: lower case and hyphens; `my-` is put before the name of a shipped pack."""
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.casefold()).strip("-") or "mine"
    return f"my-{name}" if name in {pack.pack for pack in load_packs()} else name
