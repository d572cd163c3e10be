"""Measurements in formats of other programs, which are not read: what each is, and what to do about it."""

import re
from typing import NamedTuple

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
ROWS = "the rows of a log without its header; put the header in the first line again"
# The columns of JMeter's default settings.
_JTL_HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)

# A time of this century in seconds, ms, us or ns since 1970.
_EPOCH = rb"[12]\d{9}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?"
_ISO = rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^,;\t\"]*"
_NUMBER = rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_WORD = rb"(?:\\.|[^\s,=\\\"])+"
_FIELD = _WORD + rb"=(?:" + _NUMBER + rb"[iu]?|[tTfF]\w*|\"(?:\\.|[^\"\\\n])*\")"
_POINT = rb"(?:> )?" + _WORD + rb"(?:," + _WORD + rb"=" + _WORD + rb")* " + _FIELD + rb"(?:," + _FIELD + rb")*"
_CELL = rb"[,;\t|]"
_STARTS_WITH_TIME = rb'"?' + _EPOCH + rb'"?' + _CELL + rb"[^\n]*" + _CELL + rb'"?-?[\d.]+"?(?=[,;\t|\r\n]|\Z)'


class Foreign(NamedTuple):
    """How such a file begins, and what it is."""

    begins: re.Pattern[bytes]
    what: str


def _kind(begins: bytes, what: str) -> Foreign:
    return Foreign(re.compile(begins, re.DOTALL), what)


_TEXTS = (
    _kind(rb"(?:(?:#|CREATE )[^\n]*\n|[ \t\r]*\n)*" + _POINT + rb" \d{10,19}\r?(?:\n|\Z)", _LINES),
    _kind(
        rb"(?:# (?:HELP|TYPE) [A-Za-z_:][\w:]* [^\n]*\n)+[A-Za-z_:][\w:]*(?:\{[^\n]*\})? (?:"
        + _NUMBER
        + rb"|NaN|[+-]Inf)",
        _ASK,
    ),
    _kind(rb"[\w.-]+(?:;[\w.=-]+)* " + _NUMBER + rb" [12]\d{9}\r?\n", f"metrics as Graphite takes them; {_SEND}"),
    _kind(
        rb"\d{13},\d+,[^\n]*,(?:true|false),",
        _JTL.format(header=_JTL_HEADER),
    ),
    _kind(rb"timestamp,name,[^\n]*\n" + _EPOCH + rb",", f"what Telegraf writes as CSV, which is not read; {_SEND}"),
    _kind(
        rb"#(?:datatype|group|default),|,result,table,|name,(?:tags,)?time,[^\n]*\n[^\n,]+,[^\n]*\d",
        _QUERY,
    ),
    _kind(
        rb"(?>" + _STARTS_WITH_TIME + rb"[^\n]*(?:\n|\Z)){3}",  # atomic: a long row is looked at once
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
_LEAST = 3  # times and values of counters in JSON of an unknown kind, as settings do not have them
_OUR_OWN = re.compile(rb'[\[{\s]*"schema"\s*:\s*"plimsoll\.')
_OTHERS = _kind(
    rb'"type": ?"(?:Metric|Point)"|"resourceMetrics"|"metricset"|"dstypes"|"Datapoints"|"MetricDataResults"|'
    rb'"resultType"\s*:\s*"(?:matrix|vector)"|"__name__"|"timeSeries"\s*:\s*\[',
    "measurements as JSON, which are not read; record the host again, or save them as one of the formats in "
    "docs/formats.md",
)
_JSONS = (
    _kind(
        rb'"fields"\s*:\s*\{.{0,4000}"time(?:stamp)?"\s*:\s*\d{9}|"time(?:stamp)?"\s*:\s*\d{9}.{0,4000}"fields"\s*:\s*\{',
        f"what Telegraf writes as JSON, which is not read; {_SEND}",
    ),
    _kind(rb'"columns"\s*:\s*\[\s*"time"', _QUERY),
    _OTHERS,
)
_READ_ELSEWHERE = re.compile(rb'"sysstat"|CounterSamples|"CookedValue"')


def is_measured_json(head: bytes) -> bool:
    """Whether JSON, by its first bytes, holds measurements."""
    head = _json(head)
    return bool(head) and (_READ_ELSEWHERE.search(head) is not None or _of_json(head) is not None)


def foreign(head: bytes) -> str | None:
    """What a file is, and what to do, if by its first bytes it holds measurements that no format reads."""
    found = next((one.what for one in _TEXTS if one.begins.match(head)), None)
    if found or not (json := _json(head)) or _READ_ELSEWHERE.search(json):
        return found
    return _of_json(json)


def _json(head: bytes) -> bytes:
    """The first bytes of JSON, in any Unicode; nothing if it is none, or a document of ours."""
    head = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    return head if head[:1] in (b"[", b"{") and not _OUR_OWN.match(head) else b""


def _of_json(head: bytes) -> str | None:
    if found := next((one.what for one in _JSONS if one.begins.search(head)), None):
        return found
    enough = all(sum(1 for _ in one.finditer(head)) >= _LEAST for one in (_JSON_TIME, _JSON_COUNTER))
    return _OTHERS.what if enough else None
