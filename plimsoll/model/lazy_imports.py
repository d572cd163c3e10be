"""Packages that are imported when they are first used, as most commands, and `plimsoll up` at rest, need none of them.

polars takes 30 MB and five threads, pydantic a fifth of a command's start, and YAML is parsed only after a change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any


class _LazyModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def import_later(module: str) -> Any:
    """Return a module that is imported when one of its attributes is first read."""
    return _LazyModule(module)


if TYPE_CHECKING:
    import tomllib

    import polars as pl
    import pydantic
    import yaml

    from plimsoll.model import yaml_loader
else:
    pl, pydantic, tomllib, yaml = map(import_later, ("polars", "pydantic", "tomllib", "yaml"))
    yaml_loader = import_later("plimsoll.model.yaml_loader")
__all__ = ["import_later", "pl", "pydantic", "tomllib", "yaml", "yaml_loader"]
