"""Tables that lie beside the code as YAML."""

from importlib.resources import files
from typing import TypeVar

import yaml

T = TypeVar("T")


def shipped_table(package: str, name: str, of: type[T]) -> T:
    """The table of a package, checked: `shipped_table("plimsoll.model", "perfmon.yaml", dict[str, Entry])`.

    pydantic.ValidationError, which is a defect of Plimsoll, if it is no `of`: a dict, a dataclass or a model.
    """
    from pydantic import TypeAdapter  # noqa: PLC0415  slow, and needed only where a table is

    return TypeAdapter(of).validate_python(yaml.load(files(package).joinpath(name).read_bytes(), yaml.CSafeLoader))
