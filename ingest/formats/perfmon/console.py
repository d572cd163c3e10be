"""What typeperf writes to a console beside samples: closing lines, and -1 where a counter gives no data."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.formats.perfmon.lines import is_closing, is_words
from ingest.shared.shorten import short
from ingest.shared.text import Text
from model.remark import Kind, Remarks, counted

_TYPEPERF = re.compile(rb'"*\(PDH-[CT]SV 4\.0\)"*[,;\t]')
_ROW = re.compile(rb'[ \t]*"?(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[ T]|\(PDH-)')
_MOST_SAID = 10
_MOST_LOOKED_AT = 10_000
_COPIED = 16 << 20  # a larger log is read from its file, and such lines are told one by one
# Cells that are typeperf's sign for no data, what goes in their place, and other whole numbers: quoted or bare.
_QUOTED = re.compile(rb'"-1"'), b'" "', re.compile(rb'[,;\t]"(?!-1")-?\d+"')
_BARE = re.compile(rb"(?<=[,;\t])-1(?=[,;\t\r\n]|\Z)"), b" ", re.compile(rb"[,;\t](?!-1[,;\t\r\n])-?\d+[,;\t\r\n]")
_SAMPLE = 1 << 18


def only_samples(text: Text, remarks: Remarks) -> Text:
    """The text of typeperf's without what is no sample, as far as that is certain; any other as it is."""
    if not _TYPEPERF.match(text.header):
        return text
    if len(text.data) <= _COPIED:
        text = _without_end(text, remarks)
    return _without_no_data(text, remarks)


def _without_end(text: Text, remarks: Remarks) -> Text:
    """The text without what stands behind its last row, but for typeperf's closing lines, which are told as such.

    Among the rows it would look as if rows were damaged. In other languages such lines are few, and like no row;
    behind a closing line in English anything may stand, as where a log was saved with the page around it.
    """
    header_end = text.first_line[2]
    end = len(text.data)
    for _ in range(_MOST_LOOKED_AT):
        at = text.data.rfind(b"\n", header_end, end)
        if at < 0 or _ROW.match(text.data, at + 1):
            break
        end = at
    else:
        return text
    lines = text.data[end:].split(b"\n")
    closing = next((at for at, line in enumerate(lines) if is_closing(line)), -1)
    said = [at for at, line in enumerate(lines) if at > closing and line.strip() and not is_closing(line)]
    if not said or (closing < 0 and (len(said) > _MOST_SAID or not all(is_words(lines[at]) for at in said))):
        return text
    _tell_left_out(text, end, said, lines, remarks)
    for at in said:
        lines[at] = b""
    return replace(text, data=text.data[:end] + b"\n".join(lines).rstrip(b"\n") + b"\n")


def _tell_left_out(text: Text, end: int, said: Sequence[int], lines: Sequence[bytes], remarks: Remarks) -> None:
    shown = f' ("{short(first)}")' if (first := _readable(lines[said[0]].strip())) else ""
    told = f"{counted(len(said), 'line')} after the last row: left out{shown}"
    remarks.add(Kind.SKIPPED, told, line=text.data[:end].count(b"\n") + said[0] + 1, count=len(said))


def _readable(line: bytes) -> str:
    """A line, or nothing where its code page is not known."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return ""


def _without_no_data(text: Text, remarks: Remarks) -> Text:
    """The text with blanks where a counter gave no data.

    typeperf's numbers have six decimals, and only its sign for that has none. Where other numbers have none
    either, another program wrote them all.
    """
    start = text.first_line[2]
    sign, blank, whole = _QUOTED if b'"' in text.line_at(start + 1) else _BARE
    first = sign.search(text.data, start)
    if not first:
        return text
    data, count = sign.subn(blank, text.data[start:])
    line, cells = text.data[: first.start()].count(b"\n") + 1, counted(count, "cell")
    if whole.search(text.data, start, start + _SAMPLE):
        told = f"-1 is what typeperf writes where a counter gives no data; here it may be a number ({cells})"
        remarks.add(Kind.NOTED, told, line=line, count=count)
        return text
    told = f"typeperf writes -1 where a counter gives no data: no sample ({cells})"
    remarks.add(Kind.SKIPPED, told, line=line, count=count)
    return replace(text, data=text.data[:start] + data)
