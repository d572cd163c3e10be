"""Dataclasses whose methods are compiled when they are first used.

Compiling the methods of all dataclasses takes a fifth of a command's start, and a command uses a third of them.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: Any = None, /, **options: Any) -> Any:
        """Return the class as a dataclass. Frozen classes without slots compile their methods at the first use.

        Until the first use, stubs stand for the methods and descriptors for the fields. The methods are compiled in a
        copy of the class and moved one by one to the class, so that threads may use the class meanwhile.
        """
        if cls is None:
            return partial(dataclass, **options)
        if not options.get("frozen") or options.get("slots"):
            return dataclasses.dataclass(**options)(cls)
        namespace = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}

        def compile_methods(**fewer: bool) -> None:
            copy = dataclasses.dataclass(**options | fewer)(type(cls)(cls.__name__, cls.__bases__, dict(namespace)))
            for name in copy.__dict__.keys() - namespace.keys() - {"__dict__", "__weakref__"}:
                setattr(cls, name, copy.__dict__[name])

        names = ("__init__", *(("__eq__", "__hash__") if options.get("eq", True) else ()), "__repr__")
        for name in names:
            if not namespace.get(name):
                namespace.pop(name, None)
                fewer = {"eq": False, "repr": False} if name == "__init__" and not options.get("order") else {}
                setattr(cls, name, _make_stub(name, partial(compile_methods, **fewer)))
        for name, value in namespace.items():
            if isinstance(value, dataclasses.Field):
                delattr(cls, name)
        for name in ("__dataclass_fields__", "__match_args__"):
            setattr(cls, name, _LazyAttribute(name, compile_methods))
        return cls


class _LazyAttribute:
    """An attribute of a dataclass that compiles the methods of the class when it is first read."""

    def __init__(self, name: str, compile_methods: Callable[[], None]) -> None:
        self._name = name
        self._compile_methods = compile_methods

    def __get__(self, instance: object, owner: Any) -> Any:
        self._compile_methods()
        return getattr(owner, self._name)


def _make_stub(name: str, compile_methods: Callable[[], None]) -> Callable[..., Any]:
    def stub(self: Any, *args: Any, **kwargs: Any) -> Any:
        compile_methods()
        return getattr(type(self), name)(self, *args, **kwargs)

    return stub
