"""`plimsoll alerts`: reads and changes alerts.db in the data folder, even while `plimsoll up` is not running."""

import getpass
import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.alerting import actions, alert_queries, host_inventory, machine_clock, silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_history import read_last_evaluation
from plimsoll.alerting.alerts_file import AlertsFile, NotKept
from plimsoll.alerting.firing import group_incidents, load_firing
from plimsoll.alerting.replay import replay as replayed
from plimsoll.alerting.rule_targets import Site
from plimsoll.alerting.wording import describe_cause, describe_end, describe_lasting, describe_silence
from plimsoll.api import data_folder
from plimsoll.api.open_store import open_store
from plimsoll.cli import args
from plimsoll.cli.console import print_error, print_line, print_lines, print_notice
from plimsoll.cli.outputs import STDOUT, write_json
from plimsoll.hosts import settings as host_settings
from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.hosts.overlay import load_with_overlay
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.remark import format_count
from plimsoll.model.styled import Line
from plimsoll.model.time_arguments import TimeRange, parse_time
from plimsoll.model.times import SECOND, Zone
from plimsoll.model.value_text import format_value
from plimsoll.notify import alerts_document, test_message
from plimsoll.notify.delivery import make_senders
from plimsoll.notify.notification_log import read_notifications, read_states
from plimsoll.notify.redaction import redact_address
from plimsoll.rules.load import load
from plimsoll.rules.wording import COLOURS, MARKS
from plimsoll.store.protocol import SampleReader
from plimsoll.up import settings as up_settings

_DAY = 86_400 * SECOND
_LATE = 90 * SECOND
NumberArgument = Annotated[int, typer.Argument(help="The number of an alert.", metavar="ID")]
app = args.make_command_app("Show, silence and acknowledge the alerts of plimsoll up.")


@app.command("list", epilog=args.format_examples("plimsoll alerts list", "plimsoll alerts list --history --last 1d"))
def list_alerts(
    history: bool = typer.Option(
        False, "--history", help="Also alerts that have ended: in the last 7 days, or between --from and --to."
    ),
    hosts: bool = typer.Option(False, "--hosts", help="List the expected hosts instead of alerts; --json has both."),
    start: args.FromOption = None,
    end: args.ToOption = None,
    last: args.LastOption = None,
    json: args.JsonOption = None,
    store: args.FolderOption = None,
) -> None:
    """List the firing alerts, the silences, and the targets that cannot be notified."""
    if hosts and json is None:
        _list_hosts(store)
        return
    span = TimeRange(start, end, last)
    if span and not history:
        raise Unusable("--from, --to and --last are for --history: add that")
    now = time.time_ns()
    with open_alerts(store) as (file, zone):
        evaluated = read_last_evaluation(file)
        if history:
            first, until = span.resolve(zone, now - 7 * _DAY, now, "it is now")
            alerts = alert_queries.read_history(
                file, now - 7 * _DAY if first is None else first, now if until is None else until
            )
        else:
            alerts = alert_queries.read_firing_alerts(file)
        silenced, targets, inventory = (
            silences.read_active_silences(file, now),
            read_states(file),
            host_inventory.read_hosts(file),
        )
        planned = silences.read_planned_silences(file, now)
    if evaluated is not None and now - evaluated > _LATE:
        print_error(
            f"nothing has been judged since {zone.clock(evaluated)} {zone.label(evaluated)}: this is as of then. "
            "Is plimsoll up running?"
        )
        now = evaluated
    if json is not None:
        document = alerts_document.build_document(alerts, silenced, targets, inventory, zone, now)
        write_json(json, document.model_dump_json(by_alias=True, indent=2))
    if json == STDOUT:
        return
    if not alerts:
        print_line("No alert fired in this time" if history else "No alert is firing")
    if history:
        print_lines(_format_alert(alert, silenced, zone, now) for alert in alerts)
    else:
        print_lines(_list_incident_lines(alerts, silenced, zone, now))
    for silence in [*silenced, *planned]:
        where = f" on {silence.host}" if silence.host != "*" else ""
        where += f", {silence.instance}" if silence.instance != "*" else ""
        begins = f"from {zone.clock(silence.start)} " if silence in planned else ""
        text = f"{begins}until {zone.clock(silence.until)} by {silence.who}: {silence.reason}"
        print_line((f"silence {silence.id} ", "dim"), f"of {silence.rule}{where} {text}", indent=2)
    for target in targets:
        if target.failing_since is not None:
            since = zone.clock(target.failing_since)
            print_error(f"notification to {target.name} ({target.address}) fails since {since}: {target.error}")


@app.command("show", epilog=args.format_examples("plimsoll alerts show 17"))
def show(number: NumberArgument, store: args.FolderOption = None) -> None:
    """Show an alert: its limit, source, signals to look at, processes, history, and who was notified."""
    with open_alerts(store) as (file, zone):
        alert = alert_queries.read_alert(file, number)
        if alert is None:
            raise Unusable(f"there is no alert {number}; plimsoll alerts list --history shows those there are")
        happened, notified = alert_queries.read_events(file, number), read_notifications(file, number)
    now, details = time.time_ns(), alert.details
    print_line((_describe_alert(alert, zone, now), "bold"))
    facts: list[tuple[str, str]] = [
        ("rule", f"{alert.rule}, {alert.severity}"),
        ("limit", details.limit),
        ("fired", _format_values(alert, zone)),
        ("means", details.summary),
        ("note", details.note),
        *(("source", source) for source in details.sources),
        ("look at", "; ".join(details.look_at)),
        *(("processes", process) for process in details.processes),
    ]
    for label, text in facts:
        if text:
            print_line(f"  {label:<9} {text}", indent=12)
    lines = [(event.at, event.what, event.note) for event in happened]
    lines += [(event.at, f"{event.target}: {event.outcome}", event.error) for event in notified]
    for at, text, more in lines:
        print_line(f"  {zone.clock(at)}  {text}{f': {more}' if more else ''}", indent=4)


@app.command(
    "note", epilog=args.format_examples("plimsoll alerts note 'deployed 4.2' --host WEB1", "plimsoll alerts note")
)
def note(
    text: str = typer.Argument("", help='What happened: "deployed 4.2"; by default list the notes.'),
    at: str | None = typer.Option(None, "--at", help="When: 10:22 (the latest one), 2026-03-01T10:22; by default now."),
    host: str = typer.Option("", "--host", help="Only on the charts of this host."),
    remove: int | None = typer.Option(None, "--remove", help="Remove the note of this number."),
    store: args.FolderOption = None,
) -> None:
    """Put a note on the time axis of the charts, remove a note, or list the notes of the last 7 days."""
    now = time.time_ns()
    with open_alerts(store) as (file, zone):
        if remove:
            print_line(f"Removed: {_format_note(actions.remove_note(file, remove, find_terminal_actor(), now), zone)}")
        elif text:
            # A clock time is the latest one before now.
            when = parse_time(at, zone, now - _DAY) if at else now
            added = actions.add_note(file, when, text, host, find_terminal_actor(), now)
            print_line(f"Note {added.id} is on the charts at {_format_note(added, zone)}")
        else:
            recent = actions.find_notes(file, now - 7 * _DAY, now + _DAY)
            for note in recent:
                print_line(f"{note.id:>5} {_format_note(note, zone)}")
            if not recent:
                print_line("No note was made in the last 7 days")


@app.command(
    "silence",
    epilog=args.format_examples("plimsoll alerts silence 'windows-cpu-*' --for 2h --host 'web*' --reason test"),
)
def silence(
    rule: str = typer.Argument(
        ..., help='The id of a rule; * stands for any text: "windows-cpu-*", or "*" for all rules.', metavar="RULE"
    ),
    length: str = typer.Option(..., "--for", metavar="TIME", help="For how long: 2h, 3d; at most 30 days."),
    reason: str = typer.Option(..., "--reason", help="Why nobody has to be notified."),
    host: str = typer.Option(
        "*", "--host", help='Only for this host; * stands for any text: "web*".', callback=args.refuse_empty
    ),
    instance: str = typer.Option(
        "*", "--instance", help="Only for this instance, such as a disk.", callback=args.refuse_empty
    ),
    at: str | None = typer.Option(
        None, "--at", help="When it begins: 22:00 (the next one), 2026-03-01T22:00; by default now."
    ),
    store: args.FolderOption = None,
) -> None:
    """Silence matching alerts for a time. Nobody is notified, but the alerts are still judged and recorded."""
    now = time.time_ns()
    duration = args.parse_duration_option("--for", length)
    with open_alerts(store) as (file, zone):
        start = parse_time(at, zone, now) if at else None  # a clock time is the next one
        added = actions.silence(file, rule, host, instance, duration, reason, find_terminal_actor(), now, start)
        muted = load_firing(file).like(rule, host, instance)
    if added.start > now:
        begins = f"{zone.clock(added.start)} {zone.label(added.start)}"
        print_line(f"Silence {added.id} is planned from {begins} until {zone.clock(added.until)}")
    else:
        print_line(describe_silence(added, muted, zone))


@app.command("unsilence", epilog=args.format_examples("plimsoll alerts unsilence 3"))
def unsilence(
    number: int = typer.Argument(..., help="The number of a silence.", metavar="ID"), store: args.FolderOption = None
) -> None:
    """End a silence now."""
    with open_alerts(store) as (file, _):
        actions.end_silence(file, number, find_terminal_actor(), time.time_ns())
    print_line(f"Silence {number} has ended; what is still firing is notified")


@app.command("ack", epilog=args.format_examples("plimsoll alerts ack 17 --note 'new disk is ordered'"))
def acknowledge(
    number: NumberArgument,
    note: str = typer.Option("", "--note", help="A note for others."),
    store: args.FolderOption = None,
) -> None:
    """Acknowledge an alert: notifications are not repeated until it recovers."""
    with open_alerts(store) as (file, _):
        actions.acknowledge(file, number, find_terminal_actor(), note, time.time_ns())
    print_line(f"Alert {number} is acknowledged: it is not repeated until it recovers")


@app.command("retire", epilog=args.format_examples("plimsoll alerts retire WEB07"))
def retire(
    host: str = typer.Argument(..., help="The name of a host.", metavar="HOST"), store: args.FolderOption = None
) -> None:
    """Remove a host from the host inventory and end its alerts. A retired host that sends again is expected again."""
    with open_alerts(store) as (file, _):
        now = time.time_ns()
        with file.transaction():
            retired, closed = host_inventory.retire(file, host, now)
            actions.write_audit_entry(file, find_terminal_actor(), now, f"retired host {retired.name}")
    alerts = f", {format_count(closed, 'alert')} closed" if closed else ""
    print_line(f"{retired.name} is retired{alerts}. If it sends again, it is expected again: stop its agent")


@app.command("accept-clock", epilog=args.format_examples("plimsoll alerts accept-clock"))
def accept_clock(store: args.FolderOption = None) -> None:
    """Accept the clock of this machine and go on judging by it, though it jumped or other hosts send other times."""
    with open_alerts(store) as (file, zone):
        now = time.time_ns()
        with file.transaction():
            machine_clock.accept(file, now)
            actions.write_audit_entry(file, find_terminal_actor(), now, "accepted the clock of this machine")
    print_line(f"{zone.clock(now)} {zone.label(now)} is accepted: plimsoll up judges by it within a minute")


@app.command("test", epilog=args.format_examples("plimsoll alerts test"))
def send_test_message(store: args.FolderOption = None) -> None:
    """Send a test message to every notification target in up.toml. The exit status is 3 if any cannot be reached."""
    folder = store or data_folder.find_default_folder()
    path = folder / up_settings.FILE_NAME
    settings = up_settings.load(folder)
    if not settings.notify:
        raise Unusable(f"{path}: names nobody to notify; docs/alerts.md explains [notify.NAME]")
    failed: list[str] = []
    for name, send in make_senders(settings, str(path)).items():
        address = redact_address(settings.notify[name].url.get_secret_value())
        error = send(test_message.MESSAGE)
        print_line((name, "bold"), f"  {address}: {'sent' if error is None else 'failed'}", indent=2)
        if error is not None:
            failed.append(f"{name}: {error}")
    if failed:
        raise Unreachable("; ".join(failed))


def _list_hosts(store: Path | None) -> None:
    """Print each host in the inventory: its last sample, and whether it is expected to send."""
    with open_alerts(store) as (file, zone):
        hosts = host_inventory.read_hosts(file)
    for host in hosts:
        newest = f"last sample {zone.clock(host.newest)}" if host.newest else "no sample yet"
        retired = f"retired {zone.clock(host.retired_at)}" if host.retired_at else ""
        expected = retired or ("expected" if host.expected else "not expected yet: it has not sent for 10 minutes")
        print_line((host.name, "bold"), f"  {newest}, {expected}", indent=2)
    if not hosts:
        print_line("No host has sent anything yet")


def find_terminal_actor() -> actions.Actor:
    """Return the operating system's user as the actor for the audit log; under sudo, the user who called sudo."""
    return actions.Actor(os.environ.get("SUDO_USER") or getpass.getuser(), "command")


@contextmanager
def open_alerts(store: Path | None) -> Generator[tuple[AlertsFile, Zone]]:
    """Open alerts.db in a data folder; yield the file, and the time zone from up.toml."""
    folder = store or data_folder.find_default_folder()
    with closing(AlertsFile.existing(folder)) as file:
        try:
            yield file, up_settings.load(folder).zone
        except NotKept as error:
            raise Unusable(str(error)) from None


def _list_incident_lines(
    alerts: Sequence[Alert], silenced: Sequence[silences.Silence], zone: Zone, now: int
) -> Iterator[Line]:
    """Yield lines for the firing alerts: for each incident its cause, then its alerts, the most severe incident first.

    Alerts of severity info come last, without incidents.
    """
    for incident in group_incidents(alert for alert in alerts if alert.severity != "info"):
        yield ((f"{MARKS[incident.severity]} {describe_cause(incident.worst)}", COLOURS[incident.severity]),)
        yield from (_format_alert(alert, silenced, zone, now) for alert in incident.alerts)
    yield from (_format_alert(alert, silenced, zone, now) for alert in alerts if alert.severity == "info")


def _format_alert(alert: Alert, silenced: Sequence[silences.Silence], zone: Zone, now: int) -> Line:
    style = COLOURS[alert.severity] if alert.firing else "dim"
    marks = ", ".join(_list_marks(alert, silenced))
    return (
        (f"{alert.id:>5} {alert.severity:<8} ", style),
        f"{zone.clock(alert.fired_at)}  {_describe_alert(alert, zone, now)}",
        (f" [{marks}]" if marks else "", "dim"),
    )


def _list_marks(alert: Alert, silenced: Sequence[silences.Silence]) -> Iterator[str]:
    if alert.acked_at is not None:
        yield f"acknowledged by {alert.acked_by}{f': {alert.ack_note}' if alert.ack_note else ''}"
    if alert.firing and any(silence.matches(alert.rule, alert.host, alert.instance) for silence in silenced):
        yield "silenced"
    if alert.stale:
        yield "no data now"
    if alert.late:
        yield "samples came late"


def _describe_alert(alert: Alert, zone: Zone, now: int) -> str:
    return describe_lasting(alert, now) if alert.firing else describe_end(alert, zone)


def _format_values(alert: Alert, zone: Zone) -> str:
    if alert.kind != "rule":
        return zone.clock(alert.fired_at)
    when = f"{zone.clock(alert.fired_at)} {zone.label(alert.fired_at)}, past its limit since {zone.clock(alert.begin)}"
    values = ", ".join(
        f"{name} {format_value(value, alert.details.unit)}"
        for name, value in (("value", alert.value), ("worst", alert.worst), ("last", alert.last))
    )
    return f"{when}; {values}"


def _format_note(note: actions.Note, zone: Zone) -> str:
    return f"{zone.clock(note.at)}  {note.text}{f', on {note.host}' if note.host else ''}  (by {note.who})"


@app.command("replay", epilog=args.format_examples("plimsoll alerts replay", "plimsoll alerts replay --last 2h"))
def replay(
    start: args.FromOption = None,
    end: args.ToOption = None,
    last: args.LastOption = None,
    store: args.UpStoreOption = None,
    settings: Path | None = args.path_option(None, "--settings", "The plimsoll.toml that plimsoll up was given."),
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
) -> None:
    """Judge stored samples again, by default of the last day, and list the resulting alerts."""
    with open_judged_store(store, settings, pack, only) as (reader, site, facts, zone, evaluated):
        begin, finish = parse_judged_range(TimeRange(start, end, last), zone, _DAY, evaluated)
        alerts = sorted(replayed(reader, site, facts, begin, finish), key=lambda alert: alert.fired_at)
    print_line(f"{zone.span(begin, finish)} {zone.label(begin)}: {format_count(len(alerts), 'alert')}")
    for alert in alerts:
        end = f"until {zone.clock(alert.ended_at)}" if alert.ended_at else "firing still"
        text = f"{alert.rule.severity} {alert.rule.id} of {alert.subject}, fired {zone.clock(alert.fired_at)}, {end}"
        print_line(text, indent=2)


@contextmanager
def open_judged_store(
    store: str | None, settings: Path | None, pack: list[str] | None, only: list[str] | None
) -> Generator[tuple[SampleReader, Site, ConfiguredFacts, Zone, int]]:
    """Open the samples that `plimsoll up` judges; yield them with rules, facts, zone and last evaluation (UTC ns)."""
    catalogue, folder = load(pack or (), only or ()), data_folder.find_data_folder(store)
    host = host_settings.load(settings) if settings else host_settings.Settings()
    overrides = load_with_overlay(host, settings, folder, catalogue)
    up = up_settings.load(folder)
    samples = store if store and data_folder.is_address(store) else up.store.address or str(folder)
    with closing(AlertsFile.existing(folder)) as file:
        evaluated = read_last_evaluation(file) or 0
    with open_store(samples, notify=print_notice, signals=lambda: catalogue.signals) as opened:
        yield opened.live, Site(catalogue, overrides, host.drives(), host.labels()), host.facts(), up.zone, evaluated


def parse_judged_range(span: TimeRange, zone: Zone, usual: int, evaluated: int) -> tuple[int, int]:
    """Return the begin and end (UTC ns) of the range that the user names, by default the last `usual` ns.

    It ends no later than the last evaluation (`evaluated`, UTC ns). Raise Unusable if nothing is left.
    """
    now = time.time_ns()
    first, until = span.resolve(zone, now - usual, now, "it is now")
    begin, finish = now - usual if first is None else first, min(now if until is None else until, evaluated)
    if finish < begin:
        raise Unusable("nothing was judged in this time; choose another with --from and --to")
    return begin, finish
