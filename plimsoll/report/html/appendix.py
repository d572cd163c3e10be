"""The appendix of the report: statistics, rules that could not be judged, and the basis of the review."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.charts.chart import Scale, scale_for
from plimsoll.model.document import Block, Bullets, Column, DocumentTable, Inline, Link, Paragraph, Section, Text
from plimsoll.model.log import Log, Values
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.samples import Samples
from plimsoll.model.series import make_host_key
from plimsoll.model.times import Zone, format_duration
from plimsoll.model.value_text import format_percent, number
from plimsoll.report.wording import describe_condition, describe_reason, find_host, is_never_tested
from plimsoll.review.findings import Applied, Finding, Outcome
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.review.sentences import format_range, name_place
from plimsoll.review.statistics import WHOLE_RUN, Weights, compute_figures
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.wording import limit_text

MOST_FILES = 200
_MOST_HOSTS = 300
_MOST_REMARKS = 200
_MOST_PLACES = 40
_MOST_PACK_HOSTS = 12
_SHOWN_SUBJECTS = (8, 4, 2, 1)  # of one signal, so that all signals fit into
_MOST_ROWS = 240
_MOST_COUNTERS = 200
_RULES_NEW = " makes a signal for each counter of a log that has none."
_NUMBERS = ("Mean", "p95", "p99", "Highest", "Lowest", "Not zero", "Mean of those", "Samples", "Missing")
_UNJUDGED = (
    (
        Outcome.TOO_SHORT,
        "Too short, and not met",
        "recorded for less than what counts, and another condition of their rules was never met in it",
    ),
    (Outcome.NO_DATA, "No data", "recorded, but without samples that could be judged"),
    (
        Outcome.NOT_JUDGED,
        "Not judged",
        "something that must be known is missing, or their phase does not occur in this run",
    ),
    (Outcome.NOT_RECORDED, "Not recorded", "the rules apply to these hosts, but these logs lack the counters"),
    (Outcome.DOES_NOT_APPLY, "Does not apply", "no host in these logs is of the kind the rules are for"),
    (Outcome.OFF, "Switched off", "plimsoll.toml says not to judge them, and why"),
)


def format_digest(log: Log) -> str:
    """Return the SHA-256 of a log's file; if it cannot be computed, the reason."""
    try:
        return log.digest or "none: it is no file"
    except OSError:
        return "not known: the file could not be read again"


def build_hosts_table(review: Review, most: int = _MOST_HOSTS, label: str = "Hosts") -> DocumentTable:
    """Return a table of at most `most` hosts: packs for their kind, facts, number of counters, sampling intervals."""
    counters: dict[str, int] = {}
    intervals: dict[str, list[int]] = {}
    for log in review.logs:
        for series in log.series:
            host = make_host_key(review.host_of(series))
            counters[host] = counters.get(host, 0) + 1
        for host in review.hosts_of(log):
            intervals.setdefault(make_host_key(host), []).extend(log.intervals)
    columns = (
        *(Column("Host", style="name"), Column("Packs for its kind"), Column("Known of it", style="name")),
        *(Column("Counters", numeric=True), Column("Every", numeric=True)),
    )
    rows = tuple(
        (
            host,
            ", ".join(
                applied.pack.title
                for applied in review.applied
                if applied.pack.applies_to and make_host_key(host) in map(make_host_key, applied.hosts)
            ),
            ", ".join(review.facts.of_host(host)),
            number(counters.get(make_host_key(host), 0)),
            format_range(intervals[make_host_key(host)]) if intervals.get(make_host_key(host)) else "–",
        )
        for host in review.computers[:most]
    )
    return DocumentTable(columns, rows, label, hidden=len(review.computers) - len(rows))


def build_basis(review: Review, zone: Zone, hashes: Sequence[str]) -> tuple[Section, ...]:
    """Return the section on what the review rests on: hosts, rules, phases, remarks, and files with `hashes`."""
    summary = f"{number(len(review.computers))}, and what is known of them"
    hosts = Section("Hosts", (build_hosts_table(review),), summary=summary, anchor="hosts", fold="closed")
    parts = (*_build_phases(review, zone), *_build_remarks(review), _build_files(review, zone, hashes))
    return (Section("What this rests on", (hosts, _build_rules(review), *parts)),)


def _build_rules(review: Review) -> Section:
    overridden: dict[str, dict[str, dict[str, None]]] = {}  # hosts by rule and note
    for finding in review.findings:
        if finding.override:
            notes = overridden.setdefault(finding.rule.id, {})
            notes.setdefault(finding.override.note, {})[find_host(finding)] = None
    packs = tuple(_pack(review, applied, overridden) for applied in review.applied)
    rules = sum(len(applied.pack.rules) for applied in review.applied)
    summary = f"{number(rules)} in {format_count(len(packs), 'pack')}"
    return Section("Rules and their sources", packs, summary=summary, anchor="rules", fold="closed")


def _pack(review: Review, applied: Applied, overridden: dict[str, dict[str, dict[str, None]]]) -> Section:
    where = f": {join_names(applied.hosts, _MOST_PACK_HOSTS)}" if applied.hosts else ""
    title: Text = (f"{applied.pack.title} ", (f"{applied.why}{where}", "quiet"))
    rules = tuple(
        Section(
            "", tuple(_build_rule(review, rule, overridden.get(rule.id, {}))), anchor=f"rule-{rule.id}", style="entry"
        )
        for rule in applied.pack.rules
    )
    return Section(title, rules, level=3)


def _build_rule(review: Review, rule: Rule, overridden: dict[str, dict[str, None]]) -> Iterator[Block]:
    """Yield paragraphs on a rule: limit, reason and sources, changes by plimsoll.toml, and signals to look at."""
    signals = review.question.signals
    signal = signals[rule.signal]
    limit = limit_text(rule.healthy, signal.unit, rule.scale)
    condition = (f" {describe_condition(rule, signal.unit)} · {rule.id}", "quiet")
    yield Paragraph(((signal.title, "strong"), f" {limit} ", (rule.severity, rule.severity), condition))
    yield Paragraph((f"{rule.summary} ", (f"{signal.meaning} {rule.why}", "quiet")))
    for source in rule.sources:
        quote: tuple[Inline, ...] = (": ", (source.quote, "quote")) if source.quote else ()
        yield Paragraph((f"{source.document}, {source.place}", *quote), "note")
    for note, hosts in overridden.items():
        yield Paragraph(f"† {', '.join(hosts)}: {note}")
    if look_at := ", ".join(signals[name].title for name in rule.look_at if name in signals):
        yield Paragraph(f"Look at: {look_at}", "note")


def _build_phases(review: Review, zone: Zone) -> Iterator[Section]:
    """Yield the section on the phases of the run; nothing if the run has no phases."""
    if not review.phases:
        return
    spans: tuple[Text, ...] = tuple(
        (f"{p.name} ", (f"{zone.span(p.start, p.end)} ({format_duration(p.end - p.start)})", "quiet"))
        for p in review.phases
    )
    note = (
        f"{review.phases_found.sentence} On the charts the times in which a boundary is with a probability of 95 % "
        "are hatched."
        if review.phases_found
        else ""
    )
    summary = f"{number(len(spans))}: {', '.join(phase.name for phase in review.phases)}"
    blocks = (Bullets(spans), *((Paragraph(note, "note"),) if note else ()))
    yield Section("Phases", blocks, summary=summary, fold="closed")


def _build_remarks(review: Review) -> Iterator[Section]:
    """Yield the section of remarks; nothing if there are none."""
    if not review.remarks:
        return
    shown: tuple[Text, ...] = tuple(
        (
            (remark.kind.value, "strong"),
            f" {remark}",
            (f" ({number(remark.count)} times)" if remark.count > 1 else "", "quiet"),
        )
        for remark in review.remarks[:_MOST_REMARKS]
    )
    summary = f"{number(len(review.remarks))}: what was skipped, repaired, guessed or is worth knowing"
    paragraphs = _note_hidden(len(review.remarks) - len(shown))
    yield Section("Remarks", (Bullets(shown), *paragraphs), summary=summary, anchor="remarks", fold="closed")


def _build_files(review: Review, zone: Zone, hashes: Sequence[str]) -> Section:
    columns = (
        *(Column("File", style="name"), Column("Format"), Column("Hosts", style="name"), Column("Rows from – to")),
        *(Column(title, numeric=True) for title in ("Every", "Rows", "Counters", "Samples", "Missing")),
        Column("Recorder's zone"),
    )
    rows = tuple(_build_file_row(review, log, zone, sha256) for log, sha256 in zip(review.logs, hashes, strict=False))
    table = DocumentTable(columns, rows, "Files", hidden=len(review.logs) - len(rows))
    return Section("Files", (table,), summary=number(len(review.logs)), anchor="files", fold="closed")


def _build_file_row(review: Review, log: Log, zone: Zone, sha256: str) -> tuple[Text, ...]:
    filled = len(log.times) > 0
    return (
        (f"{log.path} ", (f"SHA-256 {sha256}", "code")),
        log.format,
        ", ".join(review.hosts_of(log)),
        zone.span(int(log.times[0]), int(log.times[-1])) if filled else "no rows",
        format_range(log.intervals) if log.intervals else "–",
        *map(number, (len(log.times), len(log.series), log.present, log.missing)),
        log.zone.label(int(log.times[0]) if filled else 0),
    )


def build_unjudged(review: Review) -> tuple[Section, ...]:
    """Return the section on rules that were not judged, by reason and pack; empty if there are no such rules."""
    sections: list[Section] = []
    for outcome, title, text in _UNJUDGED:
        findings = [f for f in review.of(outcome) if outcome != Outcome.TOO_SHORT or is_never_tested(f)]
        if findings:
            packs = tuple(_build_unjudged_packs(review, findings))
            sections.append(Section(title, packs, summary=f"{number(len(findings))}: {text}", fold="closed"))
    return (Section("Could not be judged", tuple(sections), anchor="unjudged"),) if sections else ()


def _build_unjudged_packs(review: Review, findings: Iterable[Finding]) -> Iterator[Section]:
    """Yield a section for each pack with findings of one outcome, by rule and reason."""
    why = {applied.pack.pack: applied.why for applied in review.applied}
    packs: dict[str, dict[tuple[str, str], list[Finding]]] = {}
    for finding in findings:
        rules = packs.setdefault(finding.pack.pack, {})
        rules.setdefault((finding.rule.id, describe_reason(finding)), []).append(finding)
    for name, rules in packs.items():
        first = next(iter(rules.values()))[0]
        quiet = f" {why.get(name, '')}" if first.outcome == Outcome.DOES_NOT_APPLY else ""
        unjudged_rules: list[Text] = []
        for (rule, because), group in rules.items():
            places = join_names([text for text in map(name_place, group) if text], _MOST_PLACES)
            rest = f": {because}" if because else ""
            unjudged_rules.append((Link(group[0].signal.title, f"rule-{rule}"), (f" {places}".rstrip(), "quiet"), rest))
        yield Section((first.pack.title, (quiet, "quiet")), (Bullets(tuple(unjudged_rules)),), level=3)


@dataclass(frozen=True)
class _Row:
    """A row of the statistics: a counter, or a signal of one subject; `low` means that low values are bad."""

    title: str
    place: str
    unit: str
    low: bool
    samples: Samples
    weights: Values | None


def build_statistics(review: Review, signals: RecordedSignals, zone: Zone) -> tuple[Section, ...]:
    """Return the section of statistics: signals over the whole run and by phase, judged ones first; then counters."""
    if review.start is None or review.end is None:
        return ()
    rows, hidden, subjects = _list_signal_rows(review, signals)
    counters, more_counters = _list_counter_rows(review, signals)
    if not rows and not counters:
        return ()
    spans = [(WHOLE_RUN, review.start, review.end), *((p.name, p.start, p.end) for p in review.phases)]
    text = (
        f"{number(hidden)} more are in the JSON; of a signal with many instances the {subjects} with the worst means "
        "are shown."
    )
    notes = (Paragraph(text, "note"),) if hidden else ()
    sections = [
        Section(
            name,
            (_build_statistics_table("Signal", rows, start, end), *notes),
            summary=f"{zone.span(start, end)}, {format_duration(max(0, end - start))}",
            fold="closed",
        )
        for name, start, end in spans
        if rows
    ]
    if counters:
        table = _build_statistics_table("Counter", counters, review.start, review.end)
        summary = (
            f"{number(len(counters) + more_counters)}: recorded, and no signal of Plimsoll's; over the whole run, "
        )
        summary += "as they were recorded"
        hint: Text = ("To judge them, write a pack: ", ("plimsoll rules new", "code"), _RULES_NEW)
        blocks = table, *_note_hidden(more_counters)
        sections.append(Section("Other counters", blocks, summary=summary, note=hint, fold="closed"))
    note = _describe_statistics(review, weighted=any(row.weights is not None for row in rows))
    return (Section("Statistics", tuple(sections), anchor="statistics", note=note),)


def _describe_statistics(review: Review, *, weighted: bool) -> str:
    note = (
        "Every signal as it was recorded, judged or not; judged ones first. Where low values are the bad ones, p5 and "
        "p1 stand in the place of p95 and p99. Every counter's statistics are in the JSON."
    )
    if review.phases_found and review.phases:
        note += f" The phases were found from the load: {review.phases_found.title}."
    if weighted:
        note += " As the sampling interval changed, a sample weighs as much as the time it stands for."
    return note


def _list_counter_rows(review: Review, signals: RecordedSignals) -> tuple[list[_Row], int]:
    """Return rows for the counters that no signal uses, and the number of counters left out."""
    counters, weights = signals.unused_counters(), Weights()
    unused = sorted(counters, key=lambda series: (make_host_key(review.host_of(series)), series.path or series.field))
    rows: list[_Row] = []
    for series in unused[:_MOST_COUNTERS]:
        samples = signals.counter(series)
        title = series.path or f"{series.measurement} {series.field}"
        rows.append(_Row(title, review.host_of(series), "", low=False, samples=samples, weights=weights(samples)))
    return rows, len(unused) - len(rows)


def _list_signal_rows(review: Review, signals: RecordedSignals) -> tuple[list[_Row], int, int]:
    """Return rows for the worst subjects of each signal, the number left out, and the limit of rows per signal."""
    judged = dict.fromkeys(f.rule.signal for f in review.findings if f.track is not None)
    names = [name for name in dict.fromkeys((*judged, *review.question.signals)) if signals.of(name)]
    sizes = [len(signals.of(name)) for name in names]
    fitting = (most for most in _SHOWN_SUBJECTS if sum(min(most, size) for size in sizes) <= _MOST_ROWS)
    most = next(fitting, _SHOWN_SUBJECTS[-1])
    weights = Weights()
    rows: list[_Row] = []
    for name in names:
        signal, recorded = review.question.signals[name], list(signals.of(name).items())
        low = signal.worse == "lower"
        if len(recorded) > most:
            recorded = sorted(recorded, key=lambda item: float(item[1].present.values.mean()), reverse=not low)
        shown = sorted(recorded[:most], key=lambda item: (make_host_key(item[0].host), item[0].instance or ""))
        for subject, samples in shown:
            rows.append(_Row(signal.title, str(subject), signal.unit, low, samples, weights(samples)))
    return rows, sum(sizes) - len(rows), most


def _build_statistics_table(title: str, rows: Sequence[_Row], start: int, end: int) -> DocumentTable:
    columns = (Column(title), Column("Where", style="name"), Column("Unit", style="quiet"))
    columns += tuple(Column(name, numeric=True) for name in _NUMBERS)
    texts: list[tuple[Text, ...]] = []
    previous = ""
    for row in rows:
        texts.append(("" if row.title == previous else row.title, row.place, *_format_cells(row, start, end)))
        previous = row.title
    return DocumentTable(columns, tuple(texts), "Statistics", style="statistics")


def _format_cells(row: _Row, start: int, end: int) -> tuple[Text, ...]:
    """Return the unit, then the cells of `_NUMBERS`; if low values are bad, p5 and p1 take the place of p95 and p99."""
    values = compute_figures(row.samples, row.weights, start, end)
    beyond = (values.p5, values.p1) if row.low else (values.p95, values.p99)
    levels = (values.mean, *beyond, values.maximum, values.minimum)
    scale = scale_for(max((abs(level) for level in levels if level is not None), default=0), row.unit)
    texts: list[Text] = [_format_scaled(level, scale) for level in levels]
    if row.low:
        texts[1], texts[2] = (("p5 ", "small"), str(texts[1])), (("p1 ", "small"), str(texts[2]))
    share = "–" if values.nonzero_share is None else format_percent(values.nonzero_share)
    counts = number(values.samples), number(values.missing)
    return (scale.unit, *texts, share, _format_scaled(values.nonzero_mean, scale), *counts)


def _format_scaled(value: float | None, scale: Scale) -> str:
    return "–" if value is None else number(value * scale.factor)


def _note_hidden(hidden: int) -> tuple[Paragraph, ...]:
    return (Paragraph(f"{number(hidden)} more are in the JSON.", "note"),) if hidden > 0 else ()
