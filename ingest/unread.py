"""What a file may be that no reader takes, and what to do about it."""

import re

from ingest.shorten import short
from ingest.text import Text

_RELOG = "relog FILE.blg -f CSV -o FILE.csv"
_SADF = "sadf -d FILE -- -A > FILE.csv"
# How it begins, what it looks like, and what to do.
_KINDS = (
    (rb"\x00|.{0,48}PerfDiskLog|..\x00\x00", f"a binary log (BLG), not text; convert it with: {_RELOG}"),
    (rb"\x96\xd5|\xd5\x96", f"a binary file of sysstat, not text; convert it with: {_SADF}"),
    (rb"\xd0\xcf\x11\xe0", f"a spreadsheet; export the log as it was recorded, with: {_RELOG}"),
    (rb"Linux \d", f"what sar prints; convert the file that sar recorded, with: {_SADF}"),
    (rb"#TYPE |Timestamp +CounterSamples", "what Get-Counter prints; write it with Export-Counter -FileFormat CSV"),
    (
        rb'"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]',
        "the rows of a log without its header; put the header in the first line again",
    ),
    (rb"[^;\n]+;-?\d+;", f"the rows of sadf without their header; write them again with: {_SADF}"),
    (rb"[<{[]", "a page or document; cut the log out of it, from the line of its header on"),
    (
        rb'"?\\\\|[^\n]*[,;\t]"?\\',
        "a header of counters without its first cell; put (PDH-CSV 4.0) (ZONE)(BIAS) there, over the times",
    ),
)
_SEEMS = tuple((re.compile(sign, re.DOTALL), what) for sign, what in _KINDS)
_HEAD = 4096
_INSIDE = re.compile(rb"\(PDH-[CT]SV 4\.0\)")
_WANTED = (
    "wanted is a CSV or TSV log of Performance Monitor, relog or typeperf (a binary one is converted with: "
    f"{_RELOG}), or what sadf prints: {_SADF}"
)


def refusal(text: Text) -> str:
    """Why a file is refused: how it begins, what it looks like, and what to do."""
    begins = f"not a log that can be read: it begins with {opening(text)}"
    if inside := _INSIDE.search(text.header):
        before = short(text.header[: inside.start()].decode("utf-8", errors="replace").strip(' ",;\t'))
        return (
            f'{begins}; "{before}" stands before {inside[0].decode()}, so another program changed the columns: read '
            "the log as it was recorded, or bring date and time together into the first column, under that name, "
            "and keep the rows of one recording"
        )
    _, start, _ = text.first_line
    head = text.data[start : start + _HEAD].lstrip(b" \t")
    seems = next((what for sign, what in _SEEMS if sign.match(head)), None)
    return f"{begins}; it looks like {seems}" if seems else f"{begins}; {_WANTED}"


def opening(text: Text) -> str:
    """How a file begins, in quotes."""
    shown = text.header[:40].decode("utf-8", errors="replace")
    return '"' + "".join(c if c.isprintable() else "." for c in shown) + ("..." if len(text.header) > 40 else "") + '"'
