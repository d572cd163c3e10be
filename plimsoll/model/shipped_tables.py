"""Loads the tables shipped beside the code as YAML."""

import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from plimsoll.model.kept import cache_folder, cache_result, hash_folders
from plimsoll.model.lazy_imports import pydantic, yaml

_PACKAGE = Path(__file__).parents[1]
T = TypeVar("T")


def load_shipped_table(package: str, name: str, of: type[T]) -> T:
    """Return a package's table as `of`: `load_shipped_table("plimsoll.model", "perfmon.yaml", dict[str, Entry])`.

    The parsed table is cached until the table or the code of its top-level package changes. `of` is a dict, a dataclass
    or a model. A pydantic.ValidationError is a defect of Plimsoll.
    """
    content = files(package).joinpath(name).read_bytes()
    room = package.split(".")[1]

    def read() -> T:
        return pydantic.TypeAdapter(of).validate_python(yaml.load(content, yaml.CSafeLoader))

    table = f"{package}.{Path(name).stem}".removeprefix("plimsoll.")
    return cache_result(cache_folder() / "parsed", table, content + sys.version.encode() + _hash_room(room), read)


@cache
def _hash_room(room: str) -> bytes:
    return hash_folders([_PACKAGE / room])


def find_shipped_files(folder: str) -> Path:
    """Return the folder `rules`, `dashboards` or `telegraf`: in a checkout, or in an installed wheel's data."""
    packed = _PACKAGE / "data" / folder
    return packed if packed.is_dir() else _PACKAGE.parent / folder
