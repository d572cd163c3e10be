"""`plimsoll alerts`: works on alerts.db in the data folder, whether `plimsoll up` runs or not."""

import getpass
import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.alerting import actions, alert_queries, host_inventory, silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_history import last_evaluation
from plimsoll.alerting.alerts_file import AlertsFile, NotKept
from plimsoll.alerting.firing import firing, incidents
from plimsoll.alerting.wording import cause, ended_sentence, made_sentence, still_sentence
from plimsoll.api import data_folder
from plimsoll.cli import args
from plimsoll.cli.commands.replay import replay
from plimsoll.cli.console import print_error, print_line, print_lines
from plimsoll.cli.outputs import STDOUT, write_json
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.remark import counted
from plimsoll.model.styled import Line
from plimsoll.model.time_arguments import TimeRange, parse_time
from plimsoll.model.times import SECOND, Zone, parse_duration
from plimsoll.model.value_text import quantity
from plimsoll.notify import alerts_document, test_message
from plimsoll.notify.delivery import senders
from plimsoll.notify.notification_log import notifications, states
from plimsoll.notify.redaction import redacted
from plimsoll.rules.wording import COLOURS, MARKS
from plimsoll.up import settings as up_settings

_DAY = 86_400 * SECOND
_LATE = 90 * SECOND


NumberArgument = Annotated[int, typer.Argument(help="The number of an alert.", metavar="ID")]


app = args.command_app("Show, silence and acknowledge the alerts of plimsoll up.")


@app.command("list", epilog=args.examples("plimsoll alerts list", "plimsoll alerts list --history --last 1d"))
def list_alerts(
    history: bool = typer.Option(
        False, "--history", help="Also alerts that have ended: of the last 7 days, or of --from and --to."
    ),
    hosts: bool = typer.Option(
        False, "--hosts", help="The hosts that are expected to send, instead; --json has them in any case."
    ),
    start: args.FromOption = None,
    end: args.ToOption = None,
    last: args.LastOption = None,
    json: args.JsonOption = None,
    store: args.FolderOption = None,
) -> None:
    """List the alerts that are firing, the silences, and targets that cannot be notified."""
    if hosts and json is None:
        _list_hosts(store)
        return
    span = TimeRange(start, end, last)
    if span and not history:
        raise Unusable("--from, --to and --last are for --history: add that")
    now = time.time_ns()
    with opened(store) as (file, zone):
        evaluated = last_evaluation(file)
        if history:
            first, until = span.resolve(zone, now - 7 * _DAY, now, "it is now")
            found = alert_queries.history(
                file, now - 7 * _DAY if first is None else first, now if until is None else until
            )
        else:
            found = alert_queries.firing(file)
        silenced, targets, inventory = silences.active(file, now), states(file), host_inventory.hosts(file)
        planned = silences.planned(file, now)
    if evaluated is not None and now - evaluated > _LATE:
        print_error(
            f"nothing has been judged since {zone.clock(evaluated)} {zone.label(evaluated)}: this is as of then. "
            "Is plimsoll up running?"
        )
        now = evaluated
    if json is not None:
        made = alerts_document.document(found, silenced, targets, inventory, zone, now)
        write_json(json, made.model_dump_json(by_alias=True, indent=2))
    if json == STDOUT:
        return
    if not found:
        print_line("No alert fired in this time" if history else "No alert is firing")
    if history:
        print_lines(_line(one, silenced, zone, now) for one in found)
    else:
        print_lines(_by_incident(found, silenced, zone, now))
    for one in [*silenced, *planned]:
        where = f" on {one.host}" if one.host != "*" else ""
        where += f", {one.instance}" if one.instance != "*" else ""
        begins = f"from {zone.clock(one.start)} " if one in planned else ""
        text = f"{begins}until {zone.clock(one.until)} by {one.who}: {one.reason}"
        print_line((f"silence {one.id} ", "dim"), f"of {one.rule}{where} {text}", indent=2)
    for one in targets:
        if one.failing_since is not None:
            print_error(
                f"notification to {one.name} ({one.address}) fails since {zone.clock(one.failing_since)}: {one.error}"
            )


@app.command("show", epilog=args.examples("plimsoll alerts show 17"))
def show(number: NumberArgument, store: args.FolderOption = None) -> None:
    """Show everything about an alert: limit, source, what to look at, processes, what happened, who was told."""
    with opened(store) as (file, zone):
        alert = alert_queries.alert(file, number)
        if alert is None:
            raise Unusable(f"there is no alert {number}; plimsoll alerts list --history shows those there are")
        happened, told = alert_queries.events(file, number), notifications(file, number)
    now, details = time.time_ns(), alert.details
    print_line((_sentence(alert, zone, now), "bold"))
    facts: list[tuple[str, str]] = [
        ("rule", f"{alert.rule}, {alert.severity}"),
        ("limit", details.limit),
        ("fired", _values(alert, zone)),
        ("means", details.summary),
        ("note", details.note),
        *(("source", one) for one in details.sources),
        ("look at", "; ".join(details.look_at)),
        *(("processes", one) for one in details.processes),
    ]
    for label, text in facts:
        if text:
            print_line(f"  {label:<9} {text}", indent=12)
    for one in happened:
        print_line(f"  {zone.clock(one.at)}  {one.what}{f': {one.note}' if one.note else ''}", indent=4)
    for one in told:
        print_line(
            f"  {zone.clock(one.at)}  {one.target}: {one.outcome}{f': {one.error}' if one.error else ''}", indent=4
        )


@app.command("note", epilog=args.examples("plimsoll alerts note 'deployed 4.2' --host WEB1", "plimsoll alerts note"))
def note(
    text: str = typer.Argument("", help='What happened: "deployed 4.2"; by default list the notes.'),
    at: str | None = typer.Option(None, "--at", help="When: 10:22 (the latest one), 2026-03-01T10:22; by default now."),
    host: str = typer.Option("", "--host", help="Only on the charts of this host."),
    remove: int | None = typer.Option(None, "--remove", help="Remove the note of this number."),
    store: args.FolderOption = None,
) -> None:
    """Put a note on the time axis of the charts, list those of the last 7 days, or remove one."""
    now = time.time_ns()
    with opened(store) as (file, zone):
        if remove:
            print_line(f"Removed: {_note_text(actions.remove_note(file, remove, at_terminal(), now), zone)}")
        elif text:
            # A clock time is the latest one before now.
            when = parse_time(at, zone, now - _DAY) if at else now
            added = actions.add_note(file, when, text, host, at_terminal(), now)
            print_line(f"Note {added.id} is on the charts at {_note_text(added, zone)}")
        else:
            recent = actions.find_notes(file, now - 7 * _DAY, now + _DAY)
            for note in recent:
                print_line(f"{note.id:>5} {_note_text(note, zone)}")
            if not recent:
                print_line("No note was made in the last 7 days")


@app.command(
    "silence", epilog=args.examples("plimsoll alerts silence 'windows-cpu-*' --for 2h --host 'web*' --reason test")
)
def silence(
    rule: str = typer.Argument(
        ..., help='The id of a rule; * is any text: "windows-cpu-*", or "*" for all rules.', metavar="RULE"
    ),
    length: str = typer.Option(..., "--for", metavar="TIME", help="For how long: 2h, 3d; at most 30 days."),
    reason: str = typer.Option(..., "--reason", help="Why nobody has to be notified."),
    host: str = typer.Option("*", "--host", help='Only for this host; * is any text: "web*".', callback=args.not_empty),
    instance: str = typer.Option(
        "*", "--instance", help="Only for this instance, such as a disk.", callback=args.not_empty
    ),
    at: str | None = typer.Option(
        None, "--at", help="When it begins: 22:00 (the next one), 2026-03-01T22:00; by default now."
    ),
    store: args.FolderOption = None,
) -> None:
    """Notify nobody of the alerts that match, for a time. They are judged and kept as always."""
    now = time.time_ns()
    try:
        duration = parse_duration(length)
    except ValueError as error:
        raise Unusable(f"--for: {error}") from None
    with opened(store) as (file, zone):
        start = parse_time(at, zone, now) if at else None  # a clock time is the next one
        made = actions.silence(file, rule, host, instance, duration, reason, at_terminal(), now, start)
        muted = firing(file).like(rule, host, instance)
    if made.start > now:
        begins = f"{zone.clock(made.start)} {zone.label(made.start)}"
        print_line(f"Silence {made.id} is planned from {begins} until {zone.clock(made.until)}")
    else:
        print_line(made_sentence(made, muted, zone))


@app.command("unsilence", epilog=args.examples("plimsoll alerts unsilence 3"))
def unsilence(
    number: int = typer.Argument(..., help="The number of a silence.", metavar="ID"), store: args.FolderOption = None
) -> None:
    """End a silence now."""
    with opened(store) as (file, _):
        actions.end_silence(file, number, at_terminal(), time.time_ns())
    print_line(f"Silence {number} has ended; what is still firing is notified")


@app.command("ack", epilog=args.examples("plimsoll alerts ack 17 --note 'new disk is ordered'"))
def acknowledge(
    number: NumberArgument,
    note: str = typer.Option("", "--note", help="A note for others."),
    store: args.FolderOption = None,
) -> None:
    """Acknowledge an alert: it is not repeated until it recovers."""
    with opened(store) as (file, _):
        actions.acknowledge(file, number, at_terminal(), note, time.time_ns())
    print_line(f"Alert {number} is acknowledged: it is not repeated until it recovers")


@app.command("retire", epilog=args.examples("plimsoll alerts retire WEB07"))
def retire(
    host: str = typer.Argument(..., help="The name of a host.", metavar="HOST"), store: args.FolderOption = None
) -> None:
    """Take a host off the roster and close its alerts. If it sends again, it is expected again."""
    with opened(store) as (file, _):
        now = time.time_ns()
        with file.transaction() as connection:
            found, closed = host_inventory.retire(file, host, now)
            actions.keep(connection, at_terminal(), now, f"retired host {found.name}")
    alerts = f", {counted(closed, 'alert')} closed" if closed else ""
    print_line(f"{found.name} is retired{alerts}. If it sends again, it is expected again: stop its agent")


@app.command("test", epilog=args.examples("plimsoll alerts test"))
def send_test_message(store: args.FolderOption = None) -> None:
    """Send a test message to every target in up.toml. The exit status is 3 if one could not be reached."""
    folder = _folder(store)
    path = folder / up_settings.FILE_NAME
    told = up_settings.load(folder)
    if not told.notify:
        raise Unusable(f"{path}: names nobody to notify; docs/alerts.md explains [notify.NAME]")
    failed: list[str] = []
    for name, send in senders(told, str(path)).items():
        address = redacted(told.notify[name].url.get_secret_value())
        error = send(test_message.MESSAGE)
        print_line((name, "bold"), f"  {address}: {'sent' if error is None else 'failed'}", indent=2)
        if error is not None:
            failed.append(f"{name}: {error}")
    if failed:
        raise Unreachable("; ".join(failed))


app.command("replay", epilog=args.examples("plimsoll alerts replay", "plimsoll alerts replay --last 2h"))(replay)


def _list_hosts(store: Path | None) -> None:
    """List the hosts of the host_inventory."""
    with opened(store) as (file, zone):
        found = host_inventory.hosts(file)
    for one in found:
        newest = f"last sample {zone.clock(one.newest)}" if one.newest else "no sample yet"
        retired = f"retired {zone.clock(one.retired_at)}" if one.retired_at else ""
        expected = retired or ("expected" if one.expected else "not expected yet: it has not sent for 10 minutes")
        print_line((one.name, "bold"), f"  {newest}, {expected}", indent=2)
    if not found:
        print_line("No host has sent anything yet")


def at_terminal() -> actions.Actor:
    """The user of the system; under sudo the one who called it."""
    return actions.Actor(os.environ.get("SUDO_USER") or getpass.getuser(), "command")


@contextmanager
def opened(store: Path | None) -> Generator[tuple[AlertsFile, Zone]]:
    """The alerts of a data folder, and its zone."""
    folder = _folder(store)
    file = AlertsFile.existing(folder)
    try:
        yield file, up_settings.load(folder).zone
    except NotKept as error:
        raise Unusable(str(error)) from None
    finally:
        file.close()


def _by_incident(found: Sequence[Alert], silenced: Sequence[silences.Silence], zone: Zone, now: int) -> Iterator[Line]:
    """The firing alerts grouped by incident, most severe first; then those of severity info, which notify nobody."""
    for one in incidents(alert for alert in found if alert.severity != "info"):
        yield ((f"{MARKS[one.severity]} {cause(one.worst)}", COLOURS[one.severity]),)
        yield from (_line(alert, silenced, zone, now) for alert in one.alerts)
    yield from (_line(alert, silenced, zone, now) for alert in found if alert.severity == "info")


def _line(one: Alert, silenced: Sequence[silences.Silence], zone: Zone, now: int) -> Line:
    style = COLOURS[one.severity] if one.firing else "dim"
    marks = ", ".join(_marks(one, silenced))
    return (
        (f"{one.id:>5} {one.severity:<8} ", style),
        f"{zone.clock(one.fired_at)}  {_sentence(one, zone, now)}",
        (f" [{marks}]" if marks else "", "dim"),
    )


def _marks(one: Alert, silenced: Sequence[silences.Silence]) -> Iterator[str]:
    if one.acked_at is not None:
        yield f"acknowledged by {one.acked_by}{f': {one.ack_note}' if one.ack_note else ''}"
    if one.firing and any(silence.matches(one.rule, one.host, one.instance) for silence in silenced):
        yield "silenced"
    if one.stale:
        yield "no data now"
    if one.late:
        yield "samples came late"


def _sentence(one: Alert, zone: Zone, now: int) -> str:
    return still_sentence(one, zone, now) if one.firing else ended_sentence(one, zone)


def _values(one: Alert, zone: Zone) -> str:
    when = f"{zone.clock(one.fired_at)} {zone.label(one.fired_at)}, past its limit since {zone.clock(one.begin)}"
    if one.kind != "rule":
        return zone.clock(one.fired_at)
    values = ", ".join(
        f"{name} {quantity(value, one.details.unit)}"
        for name, value in (("value", one.value), ("worst", one.worst), ("last", one.last))
    )
    return f"{when}; {values}"


def _note_text(note: actions.Note, zone: Zone) -> str:
    return f"{zone.clock(note.at)}  {note.text}{f', on {note.host}' if note.host else ''}  (by {note.who})"


def _folder(store: Path | None) -> Path:
    return store or data_folder.default_folder()
