"""The commands and their options. What each does is imported when it is called: help must not wait for polars."""

import io
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from model.errors import Unreachable, Unusable

UNUSABLE = 2
UNREACHABLE = 3
INTERRUPTED = 130

app = typer.Typer(
    name="plimsoll",
    help="Holds performance counters against their documented thresholds.",
    epilog="Exit status: 0 done and healthy (or nothing asked to fail), 1 a threshold was crossed at or above "
    "--fail-on, 2 the input or the call was unusable, 3 a server could not be reached.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class FailOn(StrEnum):
    """The severity from which a breach makes the exit status 1."""

    WARNING = "warning"
    CRITICAL = "critical"


class Target(StrEnum):
    """What a log can be converted to."""

    CSV = "csv"
    PARQUET = "parquet"
    LP = "lp"


LogArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Logs, or folders of them; - for standard input; run:NAME for a run in a store; live:HOST for what was "
        "collected.",
        metavar="LOG...",
        show_default=False,
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="The address of an InfluxDB 2 (http://127.0.0.1:8086, with ?org= and &bucket=); its token is taken from "
        "INFLUX_TOKEN. Default: INFLUX_URL, .env, or the stack that runs here.",
        show_default=False,
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone", help="The zone of logs that do not say theirs, and to show times in: Europe/Berlin, +01:00."
    ),
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="Read as this format instead of choosing by content.")
]
EncodingOption = Annotated[str | None, typer.Option("--encoding", help="The code page of a header, such as cp1250.")]
NamesOption = Annotated[
    list[Path] | None,
    typer.Option("--names", help="A .yaml file of counter names in another language.", show_default=False),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the result for other programs; - for stdout.")]


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.")] = Path("demo-run"),
) -> None:
    """Write logs of a simulated messaging system, with enough memory and with too little, and review them."""
    from plimsoll.commands import demo

    demo.run(out)


@app.command("show")
def show_command(
    logs: LogArgument,
    zone: ZoneOption = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    from_: Annotated[str | None, typer.Option("--from", help="With live:HOST, from this time on.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="With live:HOST, up to this time.")] = None,
    store: StoreOption = None,
    json: JsonOption = None,
) -> None:
    """Tell what is in a log: host, zone, interval, span, counters, remarks."""
    from plimsoll.commands import show
    from plimsoll.sources import Named

    show.run(Named(tuple(logs), zone, format_, encoding, tuple(names or ()), store, from_, to), json)


@app.command("convert")
def convert_command(
    log: Annotated[Path, typer.Argument(help="A log; - for standard input.", metavar="LOG", show_default=False)],
    to: Annotated[Target, typer.Option("--to", help="csv (PDH-CSV), parquet (wide) or lp (InfluxDB line protocol).")],
    out: Annotated[Path, typer.Option("--out", help="The file to write.", show_default=False)],
    counter: Annotated[
        list[str] | None,
        typer.Option(
            "--counter",
            help="Keep counters whose path fits; * is any text: 'Processor(*)\\% Processor Time'. Repeat for more.",
            show_default=False,
        ),
    ] = None,
    from_: Annotated[str | None, typer.Option("--from", help="Keep rows from this time on: 10:22.")] = None,
    to_time: Annotated[str | None, typer.Option("--until", help="Keep rows up to this time.")] = None,
    every: Annotated[int, typer.Option("--every", min=1, help="Keep every n-th row.")] = 1,
    zone: ZoneOption = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    store: StoreOption = None,
) -> None:
    """Write a log in another format, whole or in part."""
    from plimsoll.commands import convert
    from plimsoll.sources import Named

    wanted = convert.Wanted(tuple(counter or ()), from_, to_time, every)
    named = Named((log,), zone, format_, encoding, tuple(names or ()), store, from_, to_time)
    convert.run(named, to.value, out, wanted)


@app.command("review")
def review_command(
    logs: LogArgument,
    pack: Annotated[
        list[str] | None,
        typer.Option(
            "--pack",
            help="Judge by this pack (name or .yaml file); repeat for more. Default: those whose objects are recorded.",
            show_default=False,
        ),
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="Judge from this time on: 10:22, or 2008-01-15T10:22.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="Judge up to this time.")] = None,
    steady: Annotated[
        str | None, typer.Option("--steady", metavar="FROM/TO", help="When the run was in steady state: 10:22/12:00.")
    ] = None,
    zone: ZoneOption = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="Run, phases, host facts and thresholds set otherwise. Default: plimsoll.toml beside the logs.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the report as one HTML file.")] = None,
    json: JsonOption = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write JUnit XML: a suite per pack, a case per rule and host.")
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="Exit with 1 if a threshold of this severity or above was crossed."),
    ] = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
    store: StoreOption = None,
) -> None:
    """Hold a run's counters against their documented thresholds."""
    from plimsoll.commands import review
    from plimsoll.sources import Named

    named = Named(tuple(logs), zone, format_, encoding, tuple(names or ()), store, from_, to)
    asked = review.Asked(tuple(pack or ()), from_, to, steady, config)
    outputs = review.Outputs(out, json, junit, fail_on.value if fail_on else None)
    raise typer.Exit(review.run(named, asked, outputs))


@app.command("ingest")
def ingest_command(
    logs: Annotated[
        list[Path],
        typer.Argument(help="Logs, or folders of them; - for standard input.", metavar="LOG...", show_default=False),
    ],
    run: Annotated[str, typer.Option("--run", help="The name of the run.", show_default=False)],
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="K=V", help="A label of the run; repeat for more.", show_default=False),
    ] = None,
    store: StoreOption = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Load though the store has data of the same hosts and times.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="Labels, phases, host facts. Default: plimsoll.toml beside the logs."),
    ] = None,
    zone: ZoneOption = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    names: NamesOption = None,
) -> None:
    """Load the logs of a run into a store; a call that was cut off goes on where it was."""
    from plimsoll.commands import ingest
    from plimsoll.sources import Named

    named = Named(tuple(logs), zone, format_, encoding, tuple(names or ()), store)
    ingest.run(named, ingest.Wanted(run, tuple(label or ()), config, merge))


runs_app = typer.Typer(help="The runs in a store.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(runs_app, name="runs")

RunArgument = Annotated[str, typer.Argument(help="The name of a run.", metavar="RUN", show_default=False)]


@runs_app.command("list")
def runs_list_command(store: StoreOption = None, json: JsonOption = None) -> None:
    """List the runs of a store, the latest first."""
    from plimsoll.commands import runs

    runs.list_runs(store, json)


@runs_app.command("show")
def runs_show_command(run: RunArgument, store: StoreOption = None, json: JsonOption = None) -> None:
    """Tell what is known of a run: when, hosts, labels, phases, files."""
    from plimsoll.commands import runs

    runs.show(run, store, json)


@runs_app.command("delete")
def runs_delete_command(run: RunArgument, store: StoreOption = None) -> None:
    """Delete a run and every value it wrote, but for those that other runs wrote too."""
    from plimsoll.commands import runs

    runs.delete(run, store)


rules_app = typer.Typer(help="What is judged by: packs of rules.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(rules_app, name="rules")

PacksArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Packs by name, or .yaml files of one's own. Default: all that ship.", metavar="PACK"),
]
RulePackOption = Annotated[
    list[str] | None,
    typer.Option("--pack", help="This pack only (name or .yaml file); repeat for more.", show_default=False),
]


@rules_app.command("list")
def rules_list_command(pack: RulePackOption = None, json: JsonOption = None) -> None:
    """List rules: severity, signal, threshold (… stands for further conditions), how long it is crossed before the
    rule fires, and how many documents it is from.
    """
    from plimsoll.commands import rules

    rules.list_rules(tuple(pack or ()), json)


@rules_app.command("check")
def rules_check_command(packs: PacksArgument = None) -> None:
    """Check packs: every mistake is told with file, line and column, and the exit status is 2."""
    from plimsoll.commands import rules

    rules.check(tuple(packs or ()))


@rules_app.command("explain")
def rules_explain_command(
    rule: Annotated[str, typer.Argument(help="A rule's id: cpu-busy.", metavar="RULE", show_default=False)],
    pack: RulePackOption = None,
) -> None:
    """Explain a rule: what is counted, the threshold, why, which documents it is from, what to look at next."""
    from plimsoll.commands import rules

    rules.explain_rule(rule, tuple(pack or ()))


@rules_app.command("test")
def rules_test_command(packs: PacksArgument = None) -> None:
    """Run the cases of packs; the exit status is 1 if one does not come out as it expects."""
    from plimsoll.commands import rules

    raise typer.Exit(rules.test(tuple(packs or ())))


grafana_app = typer.Typer(help="Files for Grafana.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(grafana_app, name="grafana")


@grafana_app.command("export")
def grafana_export_command(
    out: Annotated[
        Path, typer.Option("--out", help="The folder in which rules/grafana and dashboards/grafana are written.")
    ] = Path(),
    config: Annotated[
        Path | None, typer.Option("--config", help="Host facts and thresholds set otherwise (plimsoll.toml).")
    ] = None,
    email: Annotated[
        list[str] | None, typer.Option("--email", help="Who is told by e-mail; repeat for more.", show_default=False)
    ] = None,
    webhook: Annotated[str | None, typer.Option("--webhook", help="An address that is told as well.")] = None,
    interval: Annotated[
        str, typer.Option("--interval", help="How far samples lie apart; short windows are widened to twice that.")
    ] = "10s",
    docs: Annotated[
        str | None, typer.Option("--docs", help="Where the rules' pages are. Default: in Grafana's public folder.")
    ] = None,
) -> None:
    """Write Grafana's alert rules and dashboards; what Grafana cannot express is told, with the reason."""
    from plimsoll.commands import grafana

    grafana.export(out, config, grafana.options(tuple(email or ()), webhook, interval, docs))


@grafana_app.command("check")
def grafana_check_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files or folders. Default: those of this folder that are exported.", metavar="PATH"),
    ] = None,
) -> None:
    """Check what Grafana is provisioned with: every mistake is told with its place, and the exit status is 2."""
    from plimsoll.commands import grafana

    grafana.check(paths or [])


stack_app = typer.Typer(
    help="The real Telegraf and InfluxDB on this machine, where there is no Docker.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(stack_app, name="stack")

StackFolderOption = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        help="Where data, settings and logs are. Default: plimsoll/stack in the user's state folder.",
        show_default=False,
    ),
]


@stack_app.command("start")
def stack_start_command(
    folder: StackFolderOption = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65535,
            help="InfluxDB's port. Default: the last one, at first 8086.",
            show_default=False,
        ),
    ] = None,
    retention: Annotated[
        str | None,
        typer.Option(
            "--retention", help="How long InfluxDB keeps data: 90d, forever. Default: as before, at first forever."
        ),
    ] = None,
) -> None:
    """Start both, on 127.0.0.1 alone. They are built first where they are not yet, which takes some minutes."""
    from plimsoll.commands import stack

    stack.start(folder, port, retention)


@stack_app.command("stop")
def stack_stop_command(folder: StackFolderOption = None) -> None:
    """Stop both, and wait until they have stopped."""
    from plimsoll.commands import stack

    stack.stop(folder)


@stack_app.command("status")
def stack_status_command(folder: StackFolderOption = None, json: JsonOption = None) -> None:
    """Tell what runs, where, since when, and the room it takes; the exit status is 3 unless both run."""
    from plimsoll.commands import stack

    raise typer.Exit(stack.status(folder, json))


@stack_app.command("env")
def stack_env_command(
    out: Annotated[Path, typer.Option("--out", help="The file to write.")] = Path(".env"),
) -> None:
    """Write the settings and new secrets that docker compose needs; a file that is there is left alone."""
    from plimsoll.commands import stack

    stack.env(out)


def main() -> None:
    """Run the command line; the process ends with its exit status."""
    # Either may have been closed by who called us.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  it is open till the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  it is open till the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What a console of another code page cannot show is no reason to fail.
            stream.reconfigure(errors="replace")
    try:
        status = app(standalone_mode=False)
        if status == INTERRUPTED:  # typer has caught it
            raise KeyboardInterrupt
        sys.stdout.flush()
        sys.exit(status)
    except (Unusable, Unreachable) as error:
        for line in str(error).splitlines():
            print(f"plimsoll: {line}", file=sys.stderr)
        sys.exit(UNREACHABLE if isinstance(error, Unreachable) else UNUSABLE)
    except typer.TyperException as error:
        said = error.format_message()
        # Without a command the message is the help.
        print(said if "Usage:" in said else f"plimsoll: {said} See plimsoll --help.", file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        print("plimsoll: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Who reads our output went away; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"plimsoll: cannot be written: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNUSABLE)
