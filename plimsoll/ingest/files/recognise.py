"""Recognises files that no reader supports: their kind, advice for the user, and whether they are recordings."""

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Empty, NoLog, Unusable

# The cells of a spreadsheet, and a cell as in the header of a log.
_SHEET = re.compile(r"xl/sharedStrings\.xml|xl/worksheets/.*\.xml|content\.xml")
_SHEET_CELL = re.compile(rb"<(c|t|v|is|si|text:p)\b")
_COUNTER = re.compile(rb"PDH-[CT]SV|\\[^\\<>]+\\[^\\<>]|Processor Time")
SPREADSHEET = (
    "a spreadsheet; save its sheet as CSV there and see that no time lost its seconds, or better take the log as it "
    "was recorded"
)
DOCUMENT = "a document, not a log; if a log is in it, save that as text"
HEAD = 1 << 16
_SEND = 'have it send what it measures to plimsoll up (docs/up.md, "Point Telegraf at it"), and review the host live'
_LINES = (
    "line protocol, as Telegraf writes it to a file and InfluxDB exports it, which is not read; post it to plimsoll up "
    "(/api/v2/write, docs/up.md), and review the host live"
)
_QUERY = (
    "what a query of InfluxDB gives, which is not read; export line protocol, post it to plimsoll up (/api/v2/write, "
    "docs/up.md), and review the host live"
)
_ASK = (
    "what an exporter or a server of Prometheus gives, which is not read; have plimsoll up ask the exporter "
    "(docs/exporters.md)"
)
_JTL = (
    "JMeter's results (JTL) without their header; put it in the first line again: {header} unless the test saved other "
    "columns. JMeter writes it with jmeter.save.saveservice.print_field_names=true"
)
_WHOLE = "take the file as it was recorded, or delete what was put before it"
ROWS = "the rows of a log without its header; put the header in the first line again"
# The columns of JMeter's default settings.
_JTL_HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)
# A time of this century in seconds, ms, us or ns since 1970.
_EPOCH = rb"[12]\d{9}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?"
_NUMBER = rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_WORD = rb"(?:\\.|[^\s,=\\\"])+"
_FIELD = _WORD + rb"=(?:" + _NUMBER + rb"[iu]?|[tTfF]\w*|\"(?:\\.|[^\"\\\n])*\")"
_POINT = rb"(?:> )?" + _WORD + rb"(?:," + _WORD + rb"=" + _WORD + rb")* " + _FIELD + rb"(?:," + _FIELD + rb")*"
_CELL = rb"[,;\t|]"
_STARTS_WITH_TIME = rb'"?' + _EPOCH + rb'"?' + _CELL + rb"[^\n]*" + _CELL + rb'"?-?[\d.]+"?(?=[,;\t|\r\n]|\Z)'


class _Kind(NamedTuple):
    """A kind of file that is not supported: the pattern of its start, its description, and whether it is a recording.

    If `recording` is a pattern, the file is a recording when its first bytes hold that pattern.
    """

    begins: bytes
    description: str
    recording: bool | bytes = True


_TEXTS = (
    _Kind(rb"(?:(?:#|CREATE )[^\n]*\n|[ \t\r]*\n)*" + _POINT + rb" \d{10,19}\r?(?:\n|\Z)", _LINES),
    _Kind(
        rb"(?:# (?:HELP|TYPE) [A-Za-z_:][\w:]* [^\n]*\n)+[A-Za-z_:][\w:]*(?:\{[^\n]*\})? (?:"
        + _NUMBER
        + rb"|NaN|[+-]Inf)",
        _ASK,
    ),
    _Kind(rb"[\w.-]+(?:;[\w.=-]+)* " + _NUMBER + rb" [12]\d{9}\r?\n", f"metrics as Graphite takes them; {_SEND}"),
    _Kind(
        rb"\d{13},\d+,[^\n]*,(?:true|false),",
        _JTL.format(header=_JTL_HEADER),
    ),
    _Kind(rb"timestamp,name,[^\n]*\n" + _EPOCH + rb",", f"what Telegraf writes as CSV, which is not read; {_SEND}"),
    _Kind(
        rb"#(?:datatype|group|default),|,result,table,|name,(?:tags,)?time,[^\n]*\n[^\n,]+,[^\n]*\d",
        _QUERY,
    ),
    _Kind(
        rb"(?>" + _STARTS_WITH_TIME + rb"[^\n]*(?:\n|\Z)){3}",  # atomic group: no backtracking in long rows
        ROWS,
    ),
)
_TIME_KEY = rb'"(?:@?timestamp|_?time|datetime|date|ts|clock)"\s*:\s*'
_JSON_TIME = re.compile(_TIME_KEY + rb'"?(?:' + _EPOCH + rb"|\d{4}-\d\d-\d\d[ T]\d)", re.IGNORECASE)
_JSON_COUNTER = re.compile(
    rb'"[^"\n]*(?:cpu|processor|mem(?:ory)?\b|mem_|disk|swap|iowait|paging)[^"\n]*"\s*:\s*"?'
    + _NUMBER
    + rb'"?\s*[,}\]\n]',
    re.IGNORECASE,
)
_FEWEST_MATCHES = 3  # times and values of counters in unknown JSON; settings have none
_OUR_OWN = re.compile(rb'[\[{\s]*"schema"\s*:\s*"plimsoll\.')
_UNKNOWN_JSON = _Kind(
    rb'"type": ?"(?:Metric|Point)"|"resourceMetrics"|"metricset"|"dstypes"|"Datapoints"|"MetricDataResults"|'
    rb'"resultType"\s*:\s*"(?:matrix|vector)"|"__name__"|"timeSeries"\s*:\s*\[',
    "measurements as JSON, which are not read; record the host again, or save them as one of the formats in "
    "docs/formats.md",
)
_JSONS = (
    _Kind(
        rb'"fields"\s*:\s*\{.{0,4000}"time(?:stamp)?"\s*:\s*\d{9}|"time(?:stamp)?"\s*:\s*\d{9}.{0,4000}"fields"\s*:\s*\{',
        f"what Telegraf writes as JSON, which is not read; {_SEND}",
    ),
    _Kind(rb'"columns"\s*:\s*\[\s*"time"', _QUERY),
    _UNKNOWN_JSON,
)
# JSON of recorders, and of load drivers: vegeta, ghz, artillery, oha, autocannon and bombardier.
_READ_ELSEWHERE = re.compile(
    rb'"sysstat"|CounterSamples|"CookedValue"|"attack":"|"endReason"\s*:|"aggregate"\s*:\s*\{\s*"counters"|'
    rb'"latencyPercentiles"|"pipelining"\s*:|"numberOfConnections"\s*:'
)
_RELOG = "relog FILE.blg -f CSV -o FILE.csv"
_SADF = "sadf -d FILE -- -A > FILE.csv"
_BLG = f"a binary log (BLG) from before Windows Vista, or a damaged one; convert it on Windows with: {_RELOG}"
_EXPORT = (
    "write a log with: Get-Counter ... | ForEach-Object CounterSamples | Select-Object Timestamp, Path, CookedValue | "
    "Export-Csv FILE.csv"
)
# A time, then only numbers; messages of programs differ.
_TIME = rb'"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]\d\d?[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d+)?(?: ?[AaPp][Mm])?Z?"?'
_NUMBERS = rb'[,;\t][\d.,;\t"eE+ -]*\r?(?:\n|\Z)'
# Words in names of counters; a load driver's results have none of them.
_COUNTERS = (
    rb"(?i:processor|cpu|memory|\bmem_|usage_|iowait|\bdisk|paging|swap|page (?:faults|life)|interrupts|/sec\b|"
    rb'[,;\t]"?% )'
)
_COMPOUND = rb"\xd0\xcf\x11\xe0"  # the first bytes of files of old Office versions, and of other programs
_KINDS = (
    _Kind(rb"\x00+\Z", "a file of zero bytes, as a disk or a copy that failed leaves it; copy the log again", False),
    # What Windows recorded before Vista; later logs are read.
    _Kind(rb".{0,48}PerfDiskLog|.{0,48}P\0e\0r\0f\0D\0i\0s\0k\0L\0o\0g|CP\0\x01", _BLG),
    _Kind(
        rb"\x00|..\x00\x00",
        f"a binary file, not text; where it is a binary log (BLG), it is damaged: convert it on Windows with: {_RELOG}",
        False,
    ),
    _Kind(
        rb".{0,8}Result\x01",
        "vegeta's own results; write them as CSV with: vegeta encode -to=csv FILE > FILE.csv",
    ),
    _Kind(
        rb"\xef\xbe\xed\xfe|\xfe\xed\xbe\xef",
        "atop's own file; print it with: atop -r FILE -P CPU,cpu,CPL,MEM,PAG,PSI,DSK,NET > FILE.txt",
    ),
    _Kind(
        rb"(#+\n)?# Collectl:.*\n>>> \d{9}",
        "collectl's own file; print it with: collectl -p FILE -scCdDmnN -P > FILE.txt",
    ),
    _Kind(
        rb"Label,# Samples,Average,|sampler_label,aggregate_report_count,",
        "JMeter's report on a whole test; name the results of its requests (JTL)",
        False,  # it mostly lies beside the results
    ),
    _Kind(rb"7z\xbc\xaf|Rar!\x1a|MSCF\x00", "an archive (7-Zip, RAR or CAB); unpack it and name the log"),
    _Kind(_COMPOUND + rb".*(?:W\0o\0r\0d\0D\0o\0c|P\0o\0w\0e\0r\0P\0o\0i\0n\0t|C\0a\0t\0a\0l\0o\0g)", DOCUMENT, False),
    _Kind(_COMPOUND, SPREADSHEET),
    _Kind(
        rb"Linux \d",
        "what iostat prints without -t, or another program of sysstat, with no times; record with: iostat -txk 15, "
        f"or convert the file that sar recorded (sar -o FILE records one), with: {_SADF}",
    ),
    *(
        _Kind(
            rb"\s*" + system + rb" \S+ ",
            f"what sar prints on {system.decode()}, which is not read; make a table of it: put (PDH-CSV 4.0) "
            r"(ZONE)(BIAS) over the times and \\HOST\Object(Instance)\Counter over each column",
        )
        for system in (b"AIX", b"SunOS", b"HP-UX")
    ),
    _Kind(
        rb"(<\?xml[^>]*>\s*)?<(!DOCTYPE )?svg|System activity data file:|"
        rb"[^\t\n]+\t-?\d+\t(\d{4}-\d\d-\d\d |\d{9,11}\t)|\d\d:\d\d:\d\d( [AP]M)?( UTC)?; ",
        f"what sadf writes with other options than -d, -j and -x; write it again with: {_SADF}",
        rb"\A(?!.{0,200}<svg)|sysstat|sadf",
    ),
    _Kind(
        rb'"?\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]',
        ROWS,
        rb"\A" + _TIME + _NUMBERS,
    ),
    _Kind(
        rb"(Timestamp|Path) +(CounterSamples|InstanceName|CookedValue)|(Timestamp|Path|Readings) *: |"
        rb'\\\\[^,;\t"\n]+ :|[\[{<].*(CounterSamples|"CookedValue"|GetCounter)|'
        rb'#TYPE |[^\n\\]*[,;\t]"?(CookedValue|CounterSamples|Readings)\b|'
        rb'[^\n\\]+[,;\t][^\n\\]+\n[^\n\\]*"?\\\\[^\\\n]+\\[^\n]+\\',
        f"what Get-Counter gives, printed or saved with a row for each value; {_EXPORT}",
        # Other tables may contain paths of folders.
        rb"PerformanceCounter|CookedValue|CounterSamples|GetCounter|Readings|\A\\\\[^\n\\]+\\[^\n]+\\|"
        rb"\n(?=[^\n]*\d\d?:\d\d)[^\n]*\\\\[^\\\n]+\\[^\n]+\\",
    ),
    _Kind(rb"Error:", "an error message instead of a log; record the log again", rb"(?i)counter|performance"),
    _Kind(
        rb"\\[^,;\t\n]+\r?(\n|$)",
        "a list of counters without values; record a log of them with: typeperf -cf FILE -f CSV -o LOG.csv",
        False,
    ),
    _Kind(
        rb"[^;\n]+;-?\d+;",
        f"the rows of sadf without their header; write them again with: {_SADF}",
        rb"\A[^;\n]+;-?\d+;(?:\d{4}-\d\d-\d\d|\d{9,11};|\d\d:\d\d:\d\d)",
    ),
    _Kind(rb"[<{[]", "a page, a document or settings; if a log is in it, save that as text", False),
    _Kind(
        rb'"?Reported on[ \t,:"]*\\\\',
        "an export of Windows NT 4's Performance Monitor, which is not read; put (PDH-CSV 4.0) and a path such as "
        r"\\HOST\Object(Instance)\Counter for each column into one line above the samples, and delete all before it",
    ),
    _Kind(
        rb'"?\\\\|[^\n]*[,;\t]"?\\',
        "a header of counters without the first cell that Windows writes; put (PDH-CSV 4.0) (ZONE)(BIAS) there, over "
        "the times",
        rb"\n *(?:" + _TIME + rb"[,;\t]|[\d.,;\t\"eE+ -]+\r?(?:\n|\Z))",
    ),
    _Kind(
        rb'[^\n]*[,;\t][^\n]*\n"?(?:\d{1,4}[-/.]\d\d?[-/.]\d{1,4}[ T]|[12]\d{9,18}(?:\.\d+)?"?[,;\t])',
        r"a table whose columns have no counter paths; where another program renamed them, put \\HOST\Object(Instance)"
        r"\Counter and the like back into the first line, and (PDH-CSV 4.0) (ZONE)(BIAS) over the times",
        rb"\A[^\n]*" + _COUNTERS,
    ),
    _Kind(
        rb"top - \d\d:\d\d",
        f"what top prints, which is not read; record the host with sar -o FILE and convert that with: {_SADF}",
    ),
)
_HEAD = 4096
_LONG_HEAD = 1 << 20
# A header of counters on any line, also with names as changed by R; then a row as Windows writes it.
_HEADER = re.compile(rb"\(PDH-[CT]SV.{1,2}4\.0\)[^\n]*[,;\t|][^\n,;\t\w]{0,8}\\|X\.PDH\.[CT]SV\.4\.0\.", re.IGNORECASE)
_ROW = re.compile(rb'^"?\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d{3}"?' + _NUMBERS, re.MULTILINE)
# Lines of recorders that no other text has, for files that lost their first line, or have other text before it.
_PIECES = {
    program: re.compile(lines, re.MULTILINE)
    for program, lines in (
        ("nmon", rb"^AAA,progname,|^ZZZZ,T\d{4},|^CPU\d{3},T\d{4},"),
        ("collectl", rb"^#Date[ ,;]Time[ ,;]\[|\[(?:CPU|MEM|DSK|NET)[^\]\s]*\][A-Z]\w+%?[, ]"),
        (
            "dool",
            rb'^"(?:dool|[dD]stat) \d|^"Author:","(?:Scott Baker|Dag)|^"total usage:usr"|^"usr","sys","idl","wai"',
        ),
        ("vmstat", rb"^ *procs -+memory|^ +r +b +swpd +free "),
        (
            "iostat, mpstat or sar",
            rb"^avg-cpu: +%user|^\d\d:\d\d:\d\d(?: [AP]M)? +(?:CPU +%|DEV +tps|IFACE +rx|proc/s|kbmemfree|runq-sz)",
        ),
        ("sysstat", rb'^\W*"(?:avg-cpu|cpu-load)": *[\[{]'),
        ("atop", rb"^(?:CPU|CPL|MEM|DSK|PRG) \S+ \d{10} \d{4}/\d\d/\d\d "),
        ("sadf", rb"^# hostname;interval;timestamp;"),
        ("JMeter", rb"^timeStamp,elapsed,"),
        ("pmrep", rb'^Time,"?[a-z]\w*\.\w+'),
    )
}
_EXPECTED = (
    "wanted is a log of Performance Monitor, relog or typeperf (BLG, CSV or TSV), of a recorder or load driver in "
    f"docs/formats.md, or what sadf prints: {_SADF}"
)
_LOGS = {".csv", ".tsv", ".blg", ".etl"}
_PACKED = {".gz", ".zst", ".bz2", ".xz", ".lzma", ".zip", ".tar", ".tgz"}


def find_suffix(name: str) -> str:
    """Return a file name's suffix in lower case, without suffixes of compression: `.csv` for `WEB01.csv.gz`."""
    path = PurePath(name)
    while path.suffix.lower() in _PACKED and PurePath(path.stem).suffix:
        path = PurePath(path.stem)
    return path.suffix.lower()


def is_called_a_log(name: str) -> bool:
    """Return whether a file name has the suffix of a log or archive; an empty file with that name is a lost log."""
    return find_suffix(name) in _LOGS | _PACKED


def explain_refusal(text: Text) -> Unusable:
    """Return the error, with advice, for a file that no reader supports; a NoLog if the file is not a recording."""
    begins = f"{text.path}: not a log that can be read: it begins with {quote_opening(text)}"
    start_of_file = text.data[:_LONG_HEAD]
    if header := _HEADER.search(start_of_file):
        line = start_of_file.count(b"\n", 0, header.start()) + 1
        return Unusable(
            f"{begins}; the header of a log in line {line} was changed, or is behind other text: delete what was put "
            'before "(PDH-CSV 4.0)" and before each row, or take the log as it was recorded'
        )
    _, start, _ = text.first_line
    head = text.data[start : start + _HEAD].lstrip(b" \t")
    program, recording = name_foreign_format(text.data[start : start + HEAD].lstrip(b" \t")), True
    if not program:
        kind = next((kind for kind in _KINDS if re.match(kind.begins, head, re.DOTALL)), None)
        program, recording = (kind.description, kind.recording) if kind else (None, False)
    if isinstance(recording, bytes):
        recording = re.search(recording, head, re.DOTALL) is not None
    # For an unknown binary file, the name decides.
    is_binary_log = b"\0" in head and find_suffix(str(text.path)) in _LOGS
    if is_binary_log and head.strip(b"\0") and find_suffix(str(text.path)) == ".blg":
        program = _BLG
    if not recording and (piece := next((name for name, lines in _PIECES.items() if lines.search(start_of_file)), "")):
        program, recording = f"what {piece} records, without its first line or behind other text; {_WHOLE}", True
    name = f"{begins}; it looks like {program}" if program else f"{begins}; {_EXPECTED}"
    if recording or is_binary_log or _ROW.search(start_of_file):
        return Unusable(name)
    return NoLog(name) if head.strip(b"\0") else Empty(name)


def quote_opening(text: Text) -> str:
    """Return the first 40 characters of a file's first line that is not blank, in quotes, for a message."""
    shown = text.header[:40].decode("utf-8", errors="replace")
    return '"' + "".join(c if c.isprintable() else "." for c in shown) + ("..." if len(text.header) > 40 else "") + '"'


def is_measured_json(head: bytes) -> bool:
    """Return whether the first bytes of a file are JSON that holds measurements."""
    head = _find_json(head)
    return bool(head) and (_READ_ELSEWHERE.search(head) is not None or _name_json_format(head) is not None)


def name_foreign_format(head: bytes) -> str | None:
    """Return the name of the unsupported format of measurements that begins with `head`; None for other content."""
    text = next((kind.description for kind in _TEXTS if re.match(kind.begins, head, re.DOTALL)), None)
    if text or not (json := _find_json(head)) or _READ_ELSEWHERE.search(json):
        return text
    return _name_json_format(json)


def _find_json(head: bytes) -> bytes:
    """Return the JSON in `head` without a byte order mark; empty for other text and for Plimsoll's own JSON."""
    head = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    return head if head[:1] in (b"[", b"{") and not _OUR_OWN.match(head) else b""


def _name_json_format(head: bytes) -> str | None:
    if text := next((kind.description for kind in _JSONS if re.search(kind.begins, head, re.DOTALL)), None):
        return text
    enough = all(sum(1 for _ in pattern.finditer(head)) >= _FEWEST_MATCHES for pattern in (_JSON_TIME, _JSON_COUNTER))
    return _UNKNOWN_JSON.description if enough else None


def explain_office_document(name: str, members: Iterable[tuple[str, bytes]]) -> Unusable:
    """Return the error for an office document; NoLog if it has no sheet, or no counter in its sheets.

    `members` are the names and contents of the files in the document.
    """
    is_spreadsheet = False
    sheets: list[bytes] = []
    for inner, data in members:
        is_spreadsheet = is_spreadsheet or inner.startswith("xl/") or (inner == "mimetype" and b"spreadsheet" in data)
        if _SHEET.match(inner):
            sheets.append(data)
    if not is_spreadsheet:
        return NoLog(f"{name}: is {DOCUMENT}")
    is_other = any(map(_SHEET_CELL.search, sheets)) and not any(map(_COUNTER.search, sheets))
    return (NoLog if is_other else Unusable)(f"{name}: is {SPREADSHEET}")
