"""Reads JMeter's results as XML (JTL): an element for each sample, which may contain samples that are its parts."""

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.jmeter_csv import INJECTOR, TRANSACTION, find_reasons, sum_users
from plimsoll.ingest.formats.load_results.perfmon_agent import LABEL, SCHEMA, select_counters
from plimsoll.ingest.formats.load_results.requests import Requests, log_of
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind, Remarks, format_count
from plimsoll.model.times import SECOND

NAME = "JMeter-XML"
_BEGINS = re.compile(rb"\s*(?:<\?xml[^>]*\?>)?\s*<testResults\b")
_BLOCK = 1 << 20
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*\sencoding=["']([\w.-]+)["']""")
# What XML 1.0 has no place for (https://www.w3.org/TR/xml/#charsets), and JMeter writes where a label or a message of
# a server holds it: characters, bytes that are no text (decoded as surrogates), and references to such characters.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|&#(?:x[0-9a-fA-F]+|[0-9]+);")
_OPEN_REFERENCE = re.compile(r"&#?\w{0,12}\Z")
_AT_END = frozenset(  # if the file ends early, only an unfinished element is lost
    (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN, expat.errors.XML_ERROR_PARTIAL_CHAR)
)
_SAMPLES = ("httpSample", "sample")
_MS = SECOND // 1000
_LATEST_MS = 5 * 10**12


class _Sample(NamedTuple):
    start: int
    end: int
    label: str
    failed: bool
    threads: int | None
    injector: str
    response: tuple[str, str]


def sniff(text: Text) -> bool:
    """Return whether the file begins with the root element of JMeter's results."""
    return _BEGINS.match(text.data[:4096]) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the requests.

    Of nested samples only the outermost counts; within a transaction, the outermost samples in the transaction count.
    """
    del options
    remarks = Remarks(str(text.path))
    samples = _Samples()
    try:
        samples.parse(text)
    except expat.ExpatError as error:
        if not samples.items and not samples.counters:
            raise Unusable(
                f"{text.path}:{error.lineno}: is no whole XML ({expat.ErrorString(error.code)}); copy the file again"
            ) from None
        why = expat.ErrorString(error.code)
        if why in _AT_END:
            remarks.add(Kind.SKIPPED, f"the XML ends or is damaged here ({why}): read up to there", line=error.lineno)
        else:
            lost = f"{100 * samples.unread:.2g} % of the file"
            remarks.add(
                Kind.CUT,
                f"the XML is damaged here ({why}): what follows, {lost}, is not read",
                line=error.lineno,
            )
    counters = select_counters(pl.DataFrame(samples.counters, schema=SCHEMA, orient="row"), remarks)
    if samples.replaced:
        remarks.add(
            Kind.REPAIRED,
            f"{format_count(samples.replaced, 'character')} that XML does not allow: read over",
            count=samples.replaced,
        )
    for count, name in ((samples.damaged, "without a time or a duration"), (samples.made_up, "made up of others")):
        if count:
            remarks.add(Kind.SKIPPED, f"{format_count(count, 'sample')} {name} left out", count=count)
    taken = samples.items
    start = np.array([sample.start for sample in taken], dtype=np.int64)
    end = np.array([sample.end for sample in taken], dtype=np.int64)
    counts = [(sample.end, float(sample.threads), sample.injector) for sample in taken if sample.threads is not None]
    users = sum_users(pl.DataFrame(counts, schema=["time", "threads", "injector"], orient="row"))
    failed = np.array([sample.failed for sample in taken], dtype=bool)
    operation = pl.Series("label", [sample.label for sample in taken], dtype=pl.String)
    responses = [sample.response for sample in taken if sample.failed]
    schema = {"responseCode": pl.String, "responseMessage": pl.String}
    reasons = find_reasons(pl.DataFrame(responses, schema=schema, orient="row"))
    requests = Requests(start, end, operation, failed, users, counters, reasons=reasons)
    return log_of(text.path, NAME, requests, remarks)


class _Samples:
    """The samples read so far. `_open` holds, for each open sample element, whether the sample is a transaction."""

    def __init__(self) -> None:
        self.items: list[_Sample] = []
        self.counters: list[
            tuple[str, int, float, bool]
        ] = []  # label, time (UTC ns), value, whether the value is valid
        self.damaged = self.made_up = self.replaced = 0
        self.unread = 0.0  # the share of the document after an error
        self._open: list[bool] = []

    def parse(self, text: Text) -> None:
        """Parse an XML document, piece by piece."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end

        def refuse_entity(*_: object) -> None:
            raise Unusable(f"{text.path}: declares entities, which JMeter does not write; it is not read")

        parser.EntityDeclHandler = refuse_entity
        fed = 0
        try:
            for piece in self._clean_pieces(text):
                fed += len(piece.encode())
                parser.Parse(piece)
            parser.Parse("", True)
        except expat.ExpatError:
            whole = max(fed, len(text.data))
            self.unread = max(whole - parser.ErrorByteIndex, 0) / whole
            raise

    def _clean_pieces(self, text: Text) -> Iterator[str]:
        """Yield the text of a document piece by piece, with U+FFFD for characters that XML does not allow."""
        encoding = _ENCODING.match(text.data[:256])
        name = text.encoding or (encoding[1].decode() if encoding else "utf-8")
        try:
            decoder = codecs.getincrementaldecoder(name)("surrogateescape")
        except LookupError:  # an encoding that is not known
            decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        rest = ""
        for at in range(0, len(text.data), _BLOCK):
            piece = rest + decoder.decode(text.data[at : at + _BLOCK], at + _BLOCK >= len(text.data))
            begun = _OPEN_REFERENCE.search(piece) if at + _BLOCK < len(text.data) else None
            rest = piece[begun.start() :] if begun else ""
            yield _NO_XML.sub(self._replace, piece[: begun.start()] if begun else piece)

    def _replace(self, match: re.Match[str]) -> str:
        """Return U+FFFD for a character or reference that XML does not allow; return an allowed reference unchanged."""
        reference = match[0]
        if reference.startswith("&"):
            digits = reference[2:-1]
            code = int(digits[1:], 16) if digits.startswith("x") else int(digits[:12])
            if code in (9, 10, 13) or (0x20 <= code <= 0x10FFFF and not _NO_XML.match(chr(code))):
                return reference
        self.replaced += 1
        return "\ufffd"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name not in _SAMPLES:
            return
        transaction = attributes.get("rm", "").startswith(TRANSACTION)
        if all(self._open):
            self._take(attributes, transaction=transaction)
        self._open.append(transaction)

    def _end(self, name: str) -> None:
        if name in _SAMPLES:
            self._open.pop()

    def _take(self, attributes: dict[str, str], *, transaction: bool) -> None:
        """Add a request or a host's counter from an element's attributes; a transaction is only counted."""
        if transaction:
            self.made_up += 1
            return
        try:
            start, took = int(attributes["ts"]), int(attributes["t"])
            label, threads = attributes["lb"], attributes.get("na")
            if LABEL.match(label) and not (attributes.get("rc", "") or attributes.get("tn", "")):
                self.counters.append((label, start * _MS, took / 1000, attributes.get("s") != "false"))
                return
            if not 0 <= took < _LATEST_MS or not _LATEST_MS // 10 <= start < _LATEST_MS:
                raise ValueError
            at_work = int(threads) if threads is not None and threads.isdecimal() and len(threads) < 9 else None
        except (KeyError, ValueError):
            self.damaged += 1
            return
        failed = attributes.get("s", "true") != "true"
        address = INJECTOR.match(attributes.get("tn", ""))
        injector = f"{attributes.get('hn', '')} {address[1] if address else ''}"
        response = attributes.get("rc", ""), attributes.get("rm", "")
        self.items.append(_Sample(start * _MS, (start + took) * _MS, label, failed, at_work, injector, response))
