"""Reads `multipart/form-data` (RFC 7578) as it arrives: the heads of its parts, and what is in them, piece by piece."""

from dataclasses import dataclass
from typing import TypeAlias

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

MEDIA_TYPE = "multipart/form-data"
_PLAIN = ("", "7bit", "8bit", "binary")


class NotMultipart(Exception):
    """The body is not what its Content-Type says; the text says why."""


@dataclass(frozen=True)
class Head:
    """The beginning of a part: the name of the field, and the file's name if it is a file."""

    field: str
    file: str | None


Event: TypeAlias = Head | bytes


def is_multipart(content_type: str) -> bool:
    """Whether a Content-Type is that of a form with files."""
    return content_type.partition(";")[0].strip().lower() == MEDIA_TYPE


class Multipart:
    """Parses a body of a Content-Type. NotMultipart if that names no boundary."""

    def __init__(self, content_type: str) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary:
            raise NotMultipart("its Content-Type names no boundary")
        self._events: list[Event] = []
        self._header = b""
        self._value = b""
        self._headers: dict[str, bytes] = {}
        self._ended = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._part_begin,
                    "on_header_field": self._header_field,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_end,
                    "on_headers_finished": self._headers_finished,
                    "on_part_data": self._part_data,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise NotMultipart(str(error)) from None

    def feed(self, data: bytes) -> list[Event]:
        """What begins or goes on in the next bytes, in order. NotMultipart if they are not well-formed."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise NotMultipart(str(error)) from None
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """Call it after the last bytes. NotMultipart if the end of the form is missing."""
        if not self._ended:
            raise NotMultipart("it breaks off before its end")

    def _part_begin(self) -> None:
        self._headers = {}

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value
        self._header = self._value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        name, file = options.get(b"name"), options.get(b"filename")
        if name is None:
            raise NotMultipart("a part has no name")
        encoding = self._headers.get("content-transfer-encoding", b"").decode("latin-1")
        if encoding.strip().lower() not in _PLAIN:
            raise NotMultipart(f"a part is encoded as {encoding}; send it as it is")
        self._events.append(Head(_text(name), None if file is None else _text(file)))

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(data[start:end])

    def _end(self) -> None:
        self._ended = True


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
