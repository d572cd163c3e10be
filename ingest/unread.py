"""What a file may be that no reader takes, and what to do about it."""

import re

from ingest.pdh_sign import SIGN
from ingest.shorten import short
from ingest.text import Text

_RELOG = "relog FILE.blg -f CSV -o FILE.csv"
_SADF = "sadf -d FILE -- -A > FILE.csv"
_EXPORT = "write a log with: Get-Counter ... | Export-Counter -FileFormat CSV -Path FILE.csv"
# How it begins, what it looks like, and what to do.
_KINDS = (
    (rb"\x00+\Z", "a file of zero bytes, as a disk or a copy that failed leaves it; copy the log again"),
    (rb"\x00|.{0,48}PerfDiskLog|..\x00\x00", f"a binary log (BLG), not text; convert it with: {_RELOG}"),
    (rb"\x96\xd5|\xd5\x96", f"a binary file of sysstat, not text; convert it with: {_SADF}"),
    (rb"7z\xbc\xaf|Rar!\x1a|MSCF\x00", "an archive (7-Zip, RAR or CAB); unpack it and name the log"),
    (rb"\xd0\xcf\x11\xe0", f"a spreadsheet; export the log as it was recorded, with: {_RELOG}"),
    (
        rb"Linux \d",
        f"what sar, iostat, mpstat or pidstat prints; convert the file that sar recorded, with: {_SADF}",
    ),
    (
        rb'\{"sysstat"|(<\?xml[^>]*>\s*)?<(!DOCTYPE )?(sysstat|svg)|System activity data file:|'
        rb"[^\t\n]+\t-?\d+\t(\d{4}-\d\d-\d\d |\d{9,11}\t)|\d\d:\d\d:\d\d( [AP]M)?( UTC)?; ",
        f"what sadf writes with other options than -d; write it again with: {_SADF}",
    ),
    (
        rb"""(?i:["# ]*hostname["' ]*[,;\t]["' ]*interval["' ]*[,;\t]["' ]*timestamp)""",
        f"what sadf writes, changed by another program; write it again with: {_SADF}",
    ),
    (
        rb'"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]',
        "the rows of a log without its header; put the header in the first line again",
    ),
    (
        rb"(Timestamp|Path) +(CounterSamples|InstanceName|CookedValue)|(Timestamp|Path|Readings) *: |"
        rb'\\\\[^,;\t"\n]+ :',
        f"what Get-Counter prints; {_EXPORT}",
    ),
    (rb'[\[{<].*(CounterSamples|"CookedValue"|GetCounter)', f"what Get-Counter gives, saved as objects; {_EXPORT}"),
    (
        rb'#TYPE |[^\n\\]*[,;\t]"?(CookedValue|CounterSamples|Readings)\b|'
        rb'[^\n\\]+[,;\t][^\n\\]+\n[^\n\\]*"?\\\\[^\\\n]+\\[^\n]+\\',
        f"a table with a row for each value, as Export-Csv makes it of what Get-Counter gives; {_EXPORT}",
    ),
    (
        rb"<.*(<DataCollectorSet|SystemMonitor)",
        "the settings of a Data Collector Set or chart, which hold no log; read the log that it recorded",
    ),
    (rb"Error:", "an error that stands where a log should be; record the log again"),
    (
        rb"\\[^,;\t\n]+\r?(\n|$)",
        "a list of counters without values; record a log of them with: typeperf -cf FILE -f CSV -o LOG.csv",
    ),
    (rb"[^;\n]+;-?\d+;", f"the rows of sadf without their header; write them again with: {_SADF}"),
    (rb"[<{[]", "a page or document; cut the log out of it, from the line of its header on"),
    (
        rb'"?\\\\|[^\n]*[,;\t]"?\\',
        "a header of counters without the first cell that Windows writes; put (PDH-CSV 4.0) (ZONE)(BIAS) there, over "
        "the times",
    ),
    (
        rb"[^\n]*X\.PDH\.[CT]SV\.4\.0",
        "a table whose names R has changed; write it again from what read.csv(FILE, check.names = FALSE) reads, with "
        "row.names = FALSE",
    ),
    (
        rb'[^\n]*[,;\t][^\n]*\n"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]',
        r"a table whose columns have no counter paths; where another program renamed them, put \\HOST\Object(Instance)"
        r"\Counter and the like back into the first line, and (PDH-CSV 4.0) (ZONE)(BIAS) over the times",
    ),
)
_SEEMS = tuple((re.compile(sign, re.DOTALL), what) for sign, what in _KINDS)
_HEAD = 4096
_OTHER_QUOTES = "'`\u2018\u201c\u201d\u201e\u00ab\u00bb"
_INSIDE = re.compile(SIGN)
_WANTED = (
    "wanted is a CSV or TSV log of Performance Monitor, relog or typeperf (a binary one is converted with: "
    f"{_RELOG}), or what sadf prints: {_SADF}"
)


def refusal(text: Text) -> str:
    """Why a file is refused: how it begins, what it looks like, and what to do."""
    begins = f"not a log that can be read: it begins with {opening(text)}"
    if inside := _INSIDE.search(text.header):
        before = short(text.header[: inside.start()].decode("utf-8", errors="replace").strip(' ",;\t'))
        if text.header[: inside.start()].strip(b'"').isspace():
            return f"{begins}; delete the spaces before {inside[0].decode()} in the first cell"
        if not before and not text.header[: inside.start()].strip(b'" '):
            return (
                f"{begins}; the first cell, over the times, is to be {inside[0].decode()} alone or with the zone: "
                f"{inside[0].decode()} (ZONE)(BIAS)"
            )
        if not before:
            return f"{begins}; a column without a name stands before the times: delete the first cell of every line"
        if text.header[: inside.start()].rstrip(b'"').endswith(b"\\"):
            return (
                f"{begins}; its quotes stand behind backslashes, as in a program's text or JSON: save the text as that "
                "program prints it"
            )
        if before in _OTHER_QUOTES:
            return f'{begins}; cells are enclosed in {before} and the like: replace them all by "'
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
