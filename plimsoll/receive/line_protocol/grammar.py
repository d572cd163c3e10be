"""Parses one line of line protocol as InfluxDB 2.7 does, with InfluxDB's error messages.

The rules are those of InfluxDB's models/points.go, even the odd ones: in a measurement or tag, a character after a
backslash is never a separator, even if the backslash itself is escaped.
"""

import re
from typing import NamedTuple

LONGEST_KEY = 65_535
FIRST_TIME, LAST_TIME = -(2**63) + 2, 2**63 - 2
_SEPARATOR = re.compile(rb"(?<!\\)[ ,]")
_TAG_SEPARATOR = re.compile(rb"(?<!\\)[ ,=]")
_EQUALS = re.compile(rb"(?<!\\)=")
_IN_FIELDS = re.compile(rb'\\.|["=, ]', re.DOTALL)
_VALUE_END = re.compile(rb"[ ,]|\Z")
_RESERVED = (b"_field", b"_measurement", b"\x00", b"\xff", b"time")
_TRUTH = re.compile(rb"[tTfF]|true|TRUE|True|false|FALSE|False")
_FLOAT = re.compile(rb"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(rb"-?[0-9]+i|[0-9]+u")
# Texts that InfluxDB passes to its float parser, which then refuses them.
_ALMOST_FLOAT = re.compile(rb"-?(?:[0-9.]|(?<!^)[eE]|(?<=[eE])[+-])+")
_TIME = re.compile(rb"-?[0-9]*(?=[ \n]|\Z)")
_MANY_DIGITS = 1000  # Python reads some thousands, and raises ValueError for more, zeros too


class Malformed(Exception):
    """The error that InfluxDB would refuse a line as malformed; the text is InfluxDB's reason."""


class ParsedLine(NamedTuple):
    """The parts of a line: measurement and tags (`head`), numeric fields, the number of other fields, and the time.

    All parts are unchanged bytes of the line, except that numbers are in the form that `float` reads. `time` is empty
    if the line has no time.
    """

    head: bytes
    fields: list[tuple[bytes, bytes]]
    text_fields: int
    time: bytes


def read(line: bytes) -> ParsedLine:
    """Parse a line that begins without white space. Raise Malformed if InfluxDB would refuse the line."""
    end = find_head_end(line)
    head = line[:end]
    fields, text_fields, at = _parse_fields(line, _skip(line, end))
    for name, _ in fields:
        if (size := len(head) + 4 + len(name)) > LONGEST_KEY:
            raise Malformed(f"max key length exceeded: {size} > {LONGEST_KEY}")
    return ParsedLine(head, fields, text_fields, _parse_time(line, _skip(line, at)))


def find_head_end(line: bytes) -> int:
    """Return the end offset of a line's measurement and tags. Raise Malformed if these are not valid."""
    if not line or line[:1] == b",":
        raise Malformed("missing measurement")
    match = _SEPARATOR.search(line, 1)
    names: list[bytes] = []
    while match and match[0] == b",":
        start = match.end()
        match = _match_tag_end(line, start)
        names.append(line[start : _find_equals(line, start)])
    if match is None:
        raise Malformed("missing fields")
    if reserved := [name for name in names if name in _RESERVED]:
        raise Malformed(f'cannot use reserved tag key "{reserved[0].decode("utf-8", "backslashreplace")}"')
    if len(set(names)) < len(names):
        raise Malformed("duplicate tags")
    if match.start() > LONGEST_KEY:
        raise Malformed(f"max key length exceeded: {match.start()} > {LONGEST_KEY}")
    return match.start()


def split_tags(head: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the measurement and the tags (name, value) of a valid head, escaped as written."""
    match = _SEPARATOR.search(head, 1)
    measurement = head[: match.start()] if match else head
    tags: list[tuple[bytes, bytes]] = []
    while match:
        start = match.end()
        equals = _find_equals(head, start)
        match = _SEPARATOR.search(head, equals + 2)
        tags.append((head[start:equals], head[equals + 1 : match.start() if match else len(head)]))
    return measurement, tags


def number(text: bytes) -> bytes:
    """Return a field's number in the form that `float` reads. Raise Malformed if the number is not valid."""
    if _INTEGER.fullmatch(text):
        digits, kind = _strip_zeros(text[:-1]), text[-1:]
        lowest, highest, name = (-(2**63), 2**63 - 1, "integer") if kind == b"i" else (0, 2**64 - 1, "unsigned")
        if len(digits.lstrip(b"-0")) > 20 or not lowest <= int(digits) <= highest:
            shown, go = digits.decode(), "ParseInt" if kind == b"i" else "ParseUint"
            raise Malformed(f'unable to parse {name} {shown}: strconv.{go}: parsing "{shown}": value out of range')
        return digits
    if _FLOAT.fullmatch(text) and abs(float(text)) != float("inf"):
        return text
    exponent = b"e" in text[1:] or b"E" in text[1:]
    long = len(text) > 300 and not exponent
    if (exponent or long) and _ALMOST_FLOAT.fullmatch(text) and text.count(b".") < 2:
        raise Malformed("invalid float")
    raise Malformed("invalid number")


def check_time(text: bytes, unit: int) -> None:
    """Raise Malformed if a time, in units of `unit` ns, is out of range; an empty time is valid."""
    if len(text.lstrip(b"-0")) > 19 or not -(2**63) <= int(text or 0) < 2**63:
        raise Malformed(f'strconv.ParseInt: parsing "{text.decode()}": value out of range')
    if not FIRST_TIME <= int(text or 0) * unit <= LAST_TIME:
        raise Malformed(f"time outside range {FIRST_TIME} - {LAST_TIME}")


def _match_tag_end(line: bytes, start: int) -> re.Match[bytes] | None:
    """Return the match of the separator after the tag that starts at `start`; None if the line ends with the tag."""
    if line[start : start + 1] in (b"", b" ", b",", b"="):
        raise Malformed("missing tag key")
    match = _TAG_SEPARATOR.search(line, start + 1)
    if not match or match[0] != b"=":
        raise Malformed("missing tag value")
    value = match.end()
    if line[value : value + 1] in (b"", b" ", b","):
        raise Malformed("missing tag value")
    match = _TAG_SEPARATOR.search(line, value + 1)
    if match and match[0] == b"=":
        raise Malformed("invalid tag format")
    return match


def _find_equals(line: bytes, start: int) -> int:
    match = _EQUALS.search(line, start + 1)
    return match.start() if match else len(line)


def _parse_fields(line: bytes, start: int) -> tuple[list[tuple[bytes, bytes]], int, int]:
    """Return the numeric fields (name, number), the number of other fields, and the offset where all fields end."""
    numbers: list[tuple[bytes, bytes]] = []
    equals = commas = 0
    quoted = False
    name_at = at = start
    while match := _IN_FIELDS.search(line, at):
        place, mark, at = match.start(), match[0], match.end()
        if mark == b'"':
            quoted ^= equals > commas
        elif quoted or mark[:1] == b"\\":
            continue
        elif mark == b"=":
            equals += 1
            at, value = _parse_value(line, place)
            if value is not None:
                numbers.append((line[name_at:place], value))
        elif mark == b",":
            commas += 1
            name_at = at
        else:
            at = place
            break
    else:
        at = len(line)
    if quoted:
        raise Malformed("unbalanced quotes")
    if equals == 0 or commas != equals - 1:
        raise Malformed("invalid field format")
    return numbers, equals - len(numbers), at


def _parse_value(line: bytes, equals: int) -> tuple[int, bytes | None]:
    """Return the end offset of a field's value, and the number as text; None in place of text or booleans.

    For quoted text, the offset is where the text begins.
    """
    if line[equals - 1 : equals] in (b" ", b",") and line[equals - 2 : equals - 1] != b"\\":
        raise Malformed("missing field key")
    first = line[equals + 1 : equals + 2]
    if first in (b"", b",", b" "):
        raise Malformed("missing field value")
    if first == b'"':
        return equals + 1, None
    end = _VALUE_END.search(line, equals + 1)
    stop = end.start() if end else len(line)
    text = line[equals + 1 : stop]
    if first in b"0123456789.-Nn":
        return stop, number(text)
    if not _TRUTH.fullmatch(text):
        raise Malformed("invalid boolean")
    return stop, None


def _parse_time(line: bytes, start: int) -> bytes:
    match = _TIME.match(line, start)
    if not match:
        raise Malformed("bad timestamp")
    text = _strip_zeros(match[0])
    if text == b"-":
        raise Malformed('strconv.ParseInt: parsing "-": invalid syntax')
    if text and line[match.end() :].strip(b" "):
        raise Malformed("point is invalid")
    return text


def _strip_zeros(digits: bytes) -> bytes:
    """Return the digits of an integer, without leading zeros if the digits are too many for `int`."""
    if len(digits) < _MANY_DIGITS:
        return digits
    sign = b"-" if digits.startswith(b"-") else b""
    return sign + (digits.removeprefix(b"-").lstrip(b"0") or b"0")


def _skip(line: bytes, at: int) -> int:
    """Return the offset of the first character from `at` on that is not white space."""
    return len(line) - len(line[at:].lstrip(b" \t\x00"))
