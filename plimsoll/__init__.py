"""Judges performance counters. For notebooks and scripts: `read`, `review`, `compare`, `connect`; see docs/python.md.

The modules behind these functions are imported at the first use, so that the command line starts at once.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.api.compare import ComparisonResult, compare
    from plimsoll.api.connect import Connection, connect
    from plimsoll.api.read import ReadLogs, read
    from plimsoll.api.review import ReviewResult, review
    from plimsoll.comparison.summary import Answer
    from plimsoll.model.errors import Unreachable, Unusable
    from plimsoll.review.verdict import Verdict

__all__ = [
    "Answer",
    "ComparisonResult",
    "Connection",
    "ReadLogs",
    "ReviewResult",
    "Unreachable",
    "Unusable",
    "Verdict",
    "compare",
    "connect",
    "read",
    "review",
]
_PLACES = {
    "Answer": "comparison.summary",
    "ComparisonResult": "api.compare",
    "Connection": "api.connect",
    "ReadLogs": "api.read",
    "ReviewResult": "api.review",
    "Unreachable": "model.errors",
    "Unusable": "model.errors",
    "Verdict": "review.verdict",
    "compare": "api.compare",
    "connect": "api.connect",
    "read": "api.read",
    "review": "api.review",
}


class _Plimsoll(ModuleType):
    """The class of this module: keeps `plimsoll.review` a function when Python imports the folder of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Plimsoll


if not TYPE_CHECKING:  # a type checker would take any name for one of the module's

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"plimsoll.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
