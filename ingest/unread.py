"""What a file may be that no reader takes, what to do about it, and whether it is a recording all the same."""

import re
from pathlib import PurePath
from typing import NamedTuple

from ingest.formats.perfmon.sign import SIGN
from ingest.open import DOCUMENT, SPREADSHEET
from ingest.shared.shorten import short
from ingest.shared.text import Text
from model.errors import Empty, NoLog, Unusable

_RELOG = "relog FILE.blg -f CSV -o FILE.csv"
_SADF = "sadf -d FILE -- -A > FILE.csv"
_BLG = f"a binary log (BLG), not text; convert it with: {_RELOG}"
_EXPORT = "write a log with: Get-Counter ... | Export-Counter -FileFormat CSV -Path FILE.csv"

# A time, then numbers alone, as no program's messages have them.
_TIME = rb'"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]\d\d?[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d+)?(?: ?[AaPp][Mm])?Z?"?'
_NUMBERS = rb'[,;\t][\d.,;\t"eE+ -]*\r?(?:\n|\Z)'
# Words of counters, whoever renamed them; what a load driver writes of its requests has none of them.
_COUNTERS = rb'(?i:processor|cpu\b|memory|\bdisk|paging|swap|page (?:faults|life)|interrupts|/sec\b|[,;\t]"?% )'
_COMPOUND = rb"\xd0\xcf\x11\xe0"  # how files of old versions of Office begin, and other programs'


class _What(NamedTuple):
    """A kind of file: how it begins, what it looks like with what to do, and what shows that it is a recording.

    `recording` is True or False where all of the kind are, or none, else a pattern that is found in its head.
    """

    begins: bytes
    what: str
    recording: bool | bytes = True


_KINDS = (
    _What(
        rb"\x00+\Z",
        "a file of zero bytes, as a disk or a copy that failed leaves it; copy the log again",
        recording=False,
    ),
    # What Windows has recorded since XP begins with a buffer of events, whose first one's header has this sign.
    _What(
        rb".{74}[\x01\x02]\xc0|.{0,48}PerfDiskLog|.{0,48}P\0e\0r\0f\0D\0i\0s\0k\0L\0o\0g|CP\0\x01",
        _BLG,
    ),
    _What(rb"\x96\xd5|\xd5\x96", f"a binary file of sysstat, not text; convert it with: {_SADF}"),
    _What(
        rb"\x00|..\x00\x00",
        f"a binary file, not text; where it is a binary log (BLG), convert it with: {_RELOG}",
        recording=False,
    ),
    _What(rb"7z\xbc\xaf|Rar!\x1a|MSCF\x00", "an archive (7-Zip, RAR or CAB); unpack it and name the log"),
    _What(
        _COMPOUND + rb".*(?:W\0o\0r\0d\0D\0o\0c|P\0o\0w\0e\0r\0P\0o\0i\0n\0t|C\0a\0t\0a\0l\0o\0g)",
        DOCUMENT,
        recording=False,
    ),
    _What(_COMPOUND, SPREADSHEET),
    _What(
        rb"Linux \d",
        "what sar, iostat, mpstat or pidstat prints; convert the file that sar recorded (sar -o FILE records one), "
        f"with: {_SADF}",
    ),
    _What(
        rb'\{"sysstat"|(<\?xml[^>]*>\s*)?<(!DOCTYPE )?(sysstat|svg)|System activity data file:|'
        rb"[^\t\n]+\t-?\d+\t(\d{4}-\d\d-\d\d |\d{9,11}\t)|\d\d:\d\d:\d\d( [AP]M)?( UTC)?; ",
        f"what sadf writes with other options than -d; write it again with: {_SADF}",
        rb"\A(?!.{0,200}<svg)|sysstat|sadf",
    ),
    _What(
        rb'"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]',
        "the rows of a log without its header; put the header in the first line again",
        rb"\A" + _TIME + _NUMBERS,
    ),
    _What(
        rb"(Timestamp|Path) +(CounterSamples|InstanceName|CookedValue)|(Timestamp|Path|Readings) *: |"
        rb'\\\\[^,;\t"\n]+ :',
        f"what Get-Counter prints; {_EXPORT}",
        rb"CounterSamples|CookedValue|Readings|\\\\[^\n\\]+\\[^\n]+\\",
    ),
    _What(
        rb'[\[{<].*(CounterSamples|"CookedValue"|GetCounter)', f"what Get-Counter gives, saved as objects; {_EXPORT}"
    ),
    _What(
        rb'#TYPE |[^\n\\]*[,;\t]"?(CookedValue|CounterSamples|Readings)\b|'
        rb'[^\n\\]+[,;\t][^\n\\]+\n[^\n\\]*"?\\\\[^\\\n]+\\[^\n]+\\',
        f"a table with a row for each value, as Export-Csv makes it of what Get-Counter gives; {_EXPORT}",
        # Tables of other things hold paths of folders.
        rb"PerformanceCounter|CookedValue|CounterSamples|Readings|\n(?=[^\n]*\d\d?:\d\d)[^\n]*\\\\[^\\\n]+\\[^\n]+\\",
    ),
    _What(
        rb"<.*(<DataCollectorSet|SystemMonitor)",
        "the settings of a Data Collector Set or chart, which hold no log; read the log that it recorded",
        recording=False,
    ),
    _What(rb"Error:", "an error that stands where a log should be; record the log again", rb"(?i)counter|performance"),
    _What(
        rb"\\[^,;\t\n]+\r?(\n|$)",
        "a list of counters without values; record a log of them with: typeperf -cf FILE -f CSV -o LOG.csv",
        recording=False,
    ),
    _What(
        rb"[^;\n]+;-?\d+;",
        f"the rows of sadf without their header; write them again with: {_SADF}",
        rb"\A[^;\n]+;-?\d+;(?:\d{4}-\d\d-\d\d|\d{9,11};|\d\d:\d\d:\d\d)",
    ),
    _What(rb"[<{[]", "a page or document; cut the log out of it, from the line of its header on", recording=False),
    _What(
        rb'"?\\\\|[^\n]*[,;\t]"?\\',
        "a header of counters without the first cell that Windows writes; put (PDH-CSV 4.0) (ZONE)(BIAS) there, over "
        "the times",
        rb"\n *(?:" + _TIME + rb"[,;\t]|[\d.,;\t\"eE+ -]+\r?(?:\n|\Z))",
    ),
    _What(
        rb"[^\n]*X\.PDH\.[CT]SV\.4\.0",
        "a table whose names R has changed; write it again from what read.csv(FILE, check.names = FALSE) reads, with "
        "row.names = FALSE",
    ),
    _What(
        rb'[^\n]*[,;\t][^\n]*\n"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]',
        r"a table whose columns have no counter paths; where another program renamed them, put \\HOST\Object(Instance)"
        r"\Counter and the like back into the first line, and (PDH-CSV 4.0) (ZONE)(BIAS) over the times",
        rb"\A[^\n]*" + _COUNTERS,
    ),
    _What(
        rb"AAA,|procs -+memory|\"?(?:pcp-)?[dD]stat |top - \d\d:\d\d",
        "what nmon, vmstat, dstat or top prints, which is not read; record the host with sar -o FILE and convert that "
        f"with: {_SADF}",
    ),
)
_SEEMS = tuple(
    (
        re.compile(kind.begins, re.DOTALL),
        kind.what,
        re.compile(kind.recording, re.DOTALL) if isinstance(kind.recording, bytes) else kind.recording,
    )
    for kind in _KINDS
)
_HEAD = 4096
_LONG_HEAD = 1 << 20
_OTHER_QUOTES = "'`\u2018\u201c\u201d\u201e\u00ab\u00bb"
_INSIDE = re.compile(SIGN)
# A header of counters, or a row as Windows writes it, wherever it stands.
_OF_A_LOG = re.compile(
    SIGN + rb'[^\n]*[,;\t][^\n,;\t\w]{0,8}\\|^"?\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d{3}"?' + _NUMBERS, re.MULTILINE
)
_DRESSED_JSON = re.compile(rb'\s*[\[{].*(?:"sysstat"|CounterSamples|"CookedValue")', re.DOTALL)
_WANTED = (
    "wanted is a CSV or TSV log of Performance Monitor, relog or typeperf (a binary one is converted with: "
    f"{_RELOG}), or what sadf prints: {_SADF}"
)
_OF_LOGS = {".csv", ".tsv", ".blg", ".etl"}
_OF_PACKED = {".gz", ".zst", ".bz2", ".xz", ".lzma", ".zip", ".tar", ".tgz"}


def suffix(name: str) -> str:
    """The ending of a file's name that tells what is in it, in lower case: `.csv` of `WEB01.csv.gz`."""
    path = PurePath(name)
    while path.suffix.lower() in _OF_PACKED and PurePath(path.stem).suffix:
        path = PurePath(path.stem)
    return path.suffix.lower()


def is_called_a_log(name: str) -> bool:
    """Whether a file has the ending of logs or of what they are packed in, and so was to be one if it is empty."""
    return suffix(name) in _OF_LOGS | _OF_PACKED


def is_dressed_json(head: bytes) -> bool:
    """Whether JSON, by its beginning, is what sysstat or Get-Counter measured."""
    return _DRESSED_JSON.match(head) is not None


def refused(text: Text) -> Unusable:
    """Why a file is refused: how it begins, what it looks like, and what to do. NoLog where it is no recording."""
    begins = f"{text.path}: not a log that can be read: it begins with {opening(text)}"
    if inside := _INSIDE.search(text.header):
        kind = Unusable if _OF_A_LOG.search(text.data[:_LONG_HEAD]) else NoLog
        return kind(f"{begins}; {_of_a_changed_header(text, inside)}")
    _, start, _ = text.first_line
    head = text.data[start : start + _HEAD].lstrip(b" \t")
    what, recording = next(((what, recording) for sign, what, recording in _SEEMS if sign.match(head)), (None, False))
    if isinstance(recording, re.Pattern):
        recording = recording.search(head) is not None
    # Of what is no text and nobody can make out, the name says what it was to be.
    is_binary_log = b"\0" in head and suffix(str(text.path)) in _OF_LOGS
    if is_binary_log and head.strip(b"\0") and suffix(str(text.path)) == ".blg":
        what = _BLG
    said = f"{begins}; it looks like {what}" if what else f"{begins}; {_WANTED}"
    if recording or is_binary_log or _OF_A_LOG.search(text.data[:_LONG_HEAD]):
        return Unusable(said)
    return NoLog(said) if head.strip(b"\0") else Empty(said)


def _of_a_changed_header(text: Text, inside: re.Match[bytes]) -> str:
    """What to do about a header that has the sign of a PDH log, but not where it should be."""
    before = short(text.header[: inside.start()].decode("utf-8", errors="replace").strip(' ",;\t'))
    if text.header[: inside.start()].strip(b'"').isspace():
        return f"delete the spaces before {inside[0].decode()} in the first cell"
    if not before and not text.header[: inside.start()].strip(b'" '):
        return (
            f"the first cell, over the times, is to be {inside[0].decode()} alone or with the zone: "
            f"{inside[0].decode()} (ZONE)(BIAS)"
        )
    if not before:
        return "a column without a name stands before the times: delete the first cell of every line"
    if text.header[: inside.start()].rstrip(b'"').endswith(b"\\"):
        return (
            "its quotes stand behind backslashes, as in a program's text or JSON: save the text as that program prints "
            "it"
        )
    if before in _OTHER_QUOTES:
        return f'cells are enclosed in {before} and the like: replace them all by "'
    return (
        f'"{before}" stands before {inside[0].decode()}, so another program changed the columns: read '
        "the log as it was recorded, or bring date and time together into the first column, under that name, "
        "and keep the rows of one recording"
    )


def opening(text: Text) -> str:
    """How a file begins, in quotes."""
    shown = text.header[:40].decode("utf-8", errors="replace")
    return '"' + "".join(c if c.isprintable() else "." for c in shown) + ("..." if len(text.header) > 40 else "") + '"'
