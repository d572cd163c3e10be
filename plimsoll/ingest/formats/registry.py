"""The supported formats of logs. A new format needs a folder here, and a line in FORMATS."""

from importlib import import_module
from typing import Any, Protocol, cast

from plimsoll.ingest.formats import blg
from plimsoll.ingest.formats.perfmon import read as perfmon
from plimsoll.ingest.formats.resaved import read as resaved
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log


class Format(Protocol):
    """The interface of a format: a module or object with `NAME`, `sniff` and `read`."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of the format for users."""
        ...

    def sniff(self, text: Text) -> bool:
        """Return whether the content is in this format."""
        ...

    def read(self, text: Text, options: ReadOptions) -> Log:
        """Read the log. Raise Unusable, with advice, if it cannot be read with certainty."""
        ...


class _Later:
    """A format whose module is imported at its first use, as few logs need it.

    The module is imported only for content that begins with one of the byte strings `begins`.
    """

    def __init__(self, module: str, member: str | None, begins: tuple[bytes, ...]) -> None:
        self._module = module
        self._member = member
        self._begins = begins

    def sniff(self, text: Text) -> bool:
        return text.data[:4].startswith(self._begins) and self.__getattr__("sniff")(text)

    def __getattr__(self, name: str) -> Any:
        module = import_module(f"{__package__}.{self._module}")
        return getattr(getattr(module, self._member) if self._member else module, name)


def _import_later(module: str, member: str | None = None, begins: tuple[bytes, ...] = (b"",)) -> Format:
    """Return the format in a module that is imported at first use: the module itself, or the `member` of this name."""
    return cast("Format", _Later(module, member, begins))


# Binary formats are recognised by the bytes of a file, before these are decoded as text.
BINARY: tuple[Format, ...] = (
    blg,
    _import_later("load_results.gatling_binary", begins=(b"\0\0\0\0",)),
    _import_later("recorders.pcp_archive", begins=(b"\0\0",)),
    _import_later("sysstat_binary", begins=(b"\x96\xd5", b"\xd5\x96")),
)
# The first format that recognises a log reads it. Resaved logs come first: their header often looks like the
# original's.
FORMATS: tuple[Format, ...] = (
    *BINARY,
    _import_later("resaved.get_counter"),
    resaved,
    perfmon.CSV,
    perfmon.TSV,
    perfmon.TYPEPERF,
    _import_later("sadf"),
    _import_later("recorders.sysstat_text"),
    _import_later("recorders.sysstat_json"),
    _import_later("sadf.sar"),
    _import_later("load_results.jmeter_csv"),
    _import_later("load_results.jmeter_xml"),
    _import_later("load_results.k6_csv"),
    _import_later("load_results.k6_json"),
    _import_later("load_results.gatling"),
    _import_later("load_results.locust"),
    _import_later("load_results.vegeta"),
    _import_later("load_results.json_results"),
    _import_later("load_results.summaries"),
    _import_later("recorders.nmon"),
    _import_later("recorders.vmstat"),
    _import_later("recorders.atop"),
    _import_later("recorders.wide", "COLLECTL"),
    _import_later("recorders.wide", "DOOL"),
    _import_later("recorders.wide", "PMREP"),
)
# The names of logs that are not the name of their format, and the format that reads them.
FORMAT_OF_LOG = {"sa": "sysstat-binary", "ghz": "ghz-or-artillery", "artillery": "ghz-or-artillery"}
