"""How typeperf writes a counter that gives no data: -1."""

import re
from dataclasses import replace

from plimsoll.ingest.shared.text import Text
from plimsoll.model.remark import Kind, Remarks, counted

_TYPEPERF = re.compile(rb'"*\(PDH-[CT]SV 4\.0\)"*[,;\t]')
# typeperf's -1, a blank cell to replace it, and other whole numbers: in quotes, and without.
_QUOTED = re.compile(rb'"-1"'), b'" "', re.compile(rb'[,;\t]"(?!-1")-?\d+"')
_BARE = re.compile(rb"(?<=[,;\t])-1(?=[,;\t\r\n]|\Z)"), b" ", re.compile(rb"[,;\t](?!-1[,;\t\r\n])-?\d+[,;\t\r\n]")
_SAMPLE = 1 << 18


def with_blanks_for_no_data(text: Text, remarks: Remarks) -> Text:
    """The text of typeperf with blanks where a counter gave no data; any other text as it is.

    typeperf writes numbers with six decimals, and -1 only for no data. Where other numbers are whole, too, another
    program wrote them all, and -1 may be a number.
    """
    if not _TYPEPERF.match(text.header):
        return text
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
