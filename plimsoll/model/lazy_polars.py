"""polars, imported when it is first used: it takes 30 MB and five threads, and `plimsoll up` at rest needs none."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
else:

    class _LazyPolars:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("polars"), name)

    pl = _LazyPolars()
__all__ = ["pl"]
