"""The command line: its commands and exit statuses. Their options are in options/, their work in commands/."""

import io
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from plimsoll.cli import defects
from plimsoll.cli.options import (
    alerts,
    capacity,
    compare,
    grafana,
    logs,
    prometheus,
    rules,
    runs,
    service,
    up,
    users,
)
from plimsoll.cli.options.examples import examples_of
from plimsoll.model.errors import Unreachable, Unusable, printable
from plimsoll.model.parameters import as_options

UNUSABLE = 2
UNREACHABLE = 3
INTERRUPTED = 130
_TERMINATED = 128 + signal.SIGTERM

app = typer.Typer(
    name="plimsoll",
    help="Checks performance counters against their documented thresholds.",
    epilog="Exit status: 0 done, 1 a threshold of the severity given with --fail-on or above was crossed, a run is "
    "worse than its baseline, a case of rules test failed, or alerts replay found differences, 2 the input or the call "
    "was unusable, 3 a server could not be reached or does not run, 70 a defect of Plimsoll.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("demo")(logs.demo_command)
app.command("show")(logs.show_command)
app.command("convert")(logs.convert_command)
app.command("review")(logs.review_command)
app.command("compare")(compare.compare_command)
app.command("capacity")(capacity.capacity_command)
app.command("ingest")(logs.ingest_command)
app.command("up")(up.up_command)
app.command("backup")(up.backup_command)
app.command("reload")(up.reload_command)
app.add_typer(runs.app, name="runs")
app.add_typer(rules.app, name="rules")
app.add_typer(grafana.app, name="grafana")
app.add_typer(prometheus.app, name="prometheus")
app.add_typer(alerts.app, name="alerts")
app.add_typer(service.app, name="service")
app.add_typer(users.app, name="users")


def _add_examples(commands: typer.Typer, of: str = "") -> None:
    for command in commands.registered_commands:
        command.epilog = examples_of(f"{of}{command.name}")
    for group in commands.registered_groups:
        if group.typer_instance:
            _add_examples(group.typer_instance, f"{group.name} ")


_add_examples(app)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415  slow, and needed only here

        print(f"plimsoll {version('plimsoll')}")
        raise typer.Exit


@app.callback()
def plimsoll_command(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Checks performance counters against their documented thresholds."""


@cache
def _command() -> Any:
    """The commands as Typer reads them from their functions, which takes longer than many a call."""
    return get_command(app)


def main() -> None:
    """Run the command line, and exit with its status."""
    # SystemExit, as from Ctrl-C, unwinds the stack: no partial file is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    # The caller may have closed either of them.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters that the console's code page lacks must not end the program.
            stream.reconfigure(errors="replace")
    try:
        status = _command()(prog_name="plimsoll", standalone_mode=False)
        if status == INTERRUPTED:  # typer caught the interrupt
            raise KeyboardInterrupt
        sys.stdout.flush()
        sys.exit(status)
    except (Unusable, Unreachable) as error:
        if notes := getattr(error, "__notes__", []):
            from plimsoll.cli.console import print_remarks  # noqa: PLC0415  help needs no console

            print_remarks(notes)
        for line in str(error).split("\n"):
            _say(f"plimsoll: {line}")
        sys.exit(UNREACHABLE if isinstance(error, Unreachable) else UNUSABLE)
    except typer.TyperException as error:
        for line in _lines(error):
            _say(line)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _say("plimsoll: interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The program that reads our output has ended. Without this, Python's flush at exit would fail, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        what = f"{error.filename}: cannot be used" if error.filename else "standard output: cannot be written"
        _say(f"plimsoll: {what}: {error.strerror or error}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNUSABLE)
    except SystemExit:
        raise
    except BaseException as error:  # those of polars are no Exception
        sys.exit(defects.report(error))


def _say(line: str) -> None:
    with suppress(OSError):  # stderr may be a pipe that nobody reads any more
        print(printable(as_options(line)), file=sys.stderr)


def _lines(error: typer.TyperException) -> list[str]:
    """Typer's message in one line, but for the help, which it gives where no command is named."""
    message = error.format_message()
    if "Usage:" in message:
        return message.split("\n")
    line = " ".join(message.split())
    return [f"plimsoll: {line}{'' if line.endswith(('.', '?', '!')) else '.'} See {_called(error)} --help."]


def _called(error: typer.TyperException) -> str:
    """The command that was called wrongly: `plimsoll rules list`."""
    names: list[str] = []
    context = getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        names.insert(0, str(context.info_name))
        context = context.parent
    return " ".join(["plimsoll", *names])
