"""`plimsoll alerts`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import (
    FromOption,
    JsonOption,
    LastOption,
    OnlyOption,
    PackOption,
    ToOption,
    not_empty,
    path_option,
)
from plimsoll.cli.options.up import FolderOption, UpStoreOption

app = typer.Typer(
    help="Show, silence and acknowledge the alerts of plimsoll up.", no_args_is_help=True, rich_markup_mode=None
)

NumberArgument = Annotated[int, typer.Argument(help="The number of an alert.", metavar="ID", show_default=False)]


@app.command("list")
def alerts_list_command(
    history: Annotated[
        bool, typer.Option("--history", help="Also alerts that have ended: of the last 7 days, or of --from and --to.")
    ] = False,
    hosts: Annotated[
        bool, typer.Option("--hosts", help="The hosts that are expected to send, instead; --json has them in any case.")
    ] = False,
    start: FromOption = None,
    end: ToOption = None,
    last: LastOption = None,
    json: JsonOption = None,
    store: FolderOption = None,
) -> None:
    """List the alerts that are firing, the silences, and targets that cannot be notified."""
    from plimsoll.cli.commands.alerts import alerts
    from plimsoll.model.time_arguments import TimeRange

    if hosts and json is None:
        alerts.list_hosts(store)
    else:
        alerts.list_alerts(store, TimeRange(start, end, last), json, ended=history)


@app.command("show")
def alerts_show_command(number: NumberArgument, store: FolderOption = None) -> None:
    """Show everything about an alert: limit, source, what to look at, processes, what happened, who was told."""
    from plimsoll.cli.commands.alerts import alerts

    alerts.show(store, number)


@app.command("note")
def alerts_note_command(
    text: Annotated[
        str,
        typer.Argument(help='What happened: "deployed 4.2"; by default list the notes.', show_default=False),
    ] = "",
    at: Annotated[
        str | None, typer.Option("--at", help="When: 10:22 (the latest one), 2026-03-01T10:22; by default now.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Only on the charts of this host.")] = "",
    remove: Annotated[int, typer.Option("--remove", help="Remove the note of this number.", show_default=False)] = 0,
    store: FolderOption = None,
) -> None:
    """Put a note on the time axis of the charts, list those of the last 7 days, or remove one."""
    from plimsoll.cli.commands.alerts import note

    if remove:
        note.remove(store, remove)
    elif text:
        note.add(store, text, at, host)
    else:
        note.list_notes(store)


@app.command("silence")
def alerts_silence_command(
    rule: Annotated[
        str,
        typer.Argument(
            help='The id of a rule; * is any text: "windows-cpu-*", or "*" for all rules.',
            metavar="RULE",
            show_default=False,
        ),
    ],
    length: Annotated[
        str,
        typer.Option("--for", metavar="TIME", help="For how long: 2h, 3d; at most 30 days.", show_default=False),
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why nobody has to be notified.", show_default=False)],
    host: Annotated[
        str, typer.Option("--host", help='Only for this host; * is any text: "web*".', callback=not_empty)
    ] = "*",
    instance: Annotated[
        str, typer.Option("--instance", help="Only for this instance, such as a disk.", callback=not_empty)
    ] = "*",
    at: Annotated[
        str | None,
        typer.Option("--at", help="When it begins: 22:00 (the next one), 2026-03-01T22:00; by default now."),
    ] = None,
    store: FolderOption = None,
) -> None:
    """Notify nobody of the alerts that match, for a time. They are judged and kept as always."""
    from plimsoll.cli.commands.alerts import alerts

    alerts.silence(store, rule, host, instance, length, reason, at)


@app.command("unsilence")
def alerts_unsilence_command(
    number: Annotated[int, typer.Argument(help="The number of a silence.", metavar="ID", show_default=False)],
    store: FolderOption = None,
) -> None:
    """End a silence now."""
    from plimsoll.cli.commands.alerts import alerts

    alerts.unsilence(store, number)


@app.command("ack")
def alerts_ack_command(
    number: NumberArgument,
    note: Annotated[str, typer.Option("--note", help="A note for others.", show_default=False)] = "",
    store: FolderOption = None,
) -> None:
    """Acknowledge an alert: it is not repeated until it recovers."""
    from plimsoll.cli.commands.alerts import alerts

    alerts.acknowledge(store, number, note)


@app.command("retire")
def alerts_retire_command(
    host: Annotated[str, typer.Argument(help="The name of a host.", metavar="HOST", show_default=False)],
    store: FolderOption = None,
) -> None:
    """Take a host off the roster and close its alerts. If it sends again, it is expected again."""
    from plimsoll.cli.commands.alerts import alerts

    alerts.retire(store, host)


@app.command("test")
def alerts_test_command(store: FolderOption = None) -> None:
    """Send a test message to every target in up.toml. The exit status is 3 if one could not be reached."""
    from plimsoll.cli.commands.alerts import alerts

    alerts.test(store)


@app.command("replay")
def alerts_replay_command(
    start: FromOption = None,
    end: ToOption = None,
    last: LastOption = None,
    store: UpStoreOption = None,
    settings: Annotated[
        Path | None, path_option("--settings", "The plimsoll.toml that plimsoll up was given.", show_default=False)
    ] = None,
    pack: PackOption = None,
    only: OnlyOption = None,
) -> None:
    """Judge the stored samples again, of the last day or of --from and --to, and list the alerts that this gives."""
    from plimsoll.cli.commands.alerts import replay
    from plimsoll.model.time_arguments import TimeRange

    given = replay.Given(store, settings, tuple(pack or ()), tuple(only or ()))
    replay.replay(TimeRange(start, end, last), given)
