"""The command line, with its exit statuses. A module of commands/ has the code of a command or group of commands."""

import io
import os
import signal
import sys
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from plimsoll.cli import defects
from plimsoll.model.errors import Unreachable, Unusable, escape
from plimsoll.model.parameters import replace_marks_by_options

UNUSABLE = 2
UNREACHABLE = 3
INTERRUPTED = 130
_TERMINATED = 128 + signal.SIGTERM
# The first sentence of each command's help. Its module is imported only when it is called, as most are slow to import.
COMMANDS = {
    "demo": "Write logs of a simulated system, with enough memory and with too little, and review them.",
    "show": "Show what is in a log: host, time zone, interval, span, counters, remarks.",
    "convert": "Write a log in another format, whole or in part.",
    "review": "Check the counters of a run against their documented thresholds.",
    "compare": "Compare runs with a baseline: what became worse or better, by how much, and what did not change.",
    "capacity": "Say how much load a system can carry, and what runs out first.",
    "ingest": "Load the logs of a run, or what a server recorded, into a store. Repeat a call to continue it.",
    "up": "Collect samples, receive those of agents, judge them by the rules, and notify people.",
    "backup": "Copy the embedded store, also while plimsoll up runs.",
    "reload": "Make a running plimsoll up read up.toml and plimsoll.toml again.",
    "runs": "List, show, judge and delete the runs in a store, and show where they changed.",
    "rules": "List, check, explain and write rules; a pack is a file of rules.",
    "grafana": "Write alert rules and dashboards for Grafana.",
    "prometheus": "Write alerting rules for Prometheus, Mimir and VictoriaMetrics.",
    "alerts": "Show, silence and acknowledge the alerts of plimsoll up.",
    "mcp": "Let an assistant read hosts, incidents, reviews and rules over the Model Context Protocol.",
    "service": "Have the service manager of this system run plimsoll up, or write the file of a unit or of an agent.",
    "users": "Manage the users of plimsoll up and their roles, and show the audit log.",
}


@cache
def load_command(name: str) -> Any:
    """Import the module of a command or group of commands, and return the object that Typer makes from it."""
    commands = import_module(f"plimsoll.cli.commands.{name}").app
    command = get_group(commands) if commands.info.no_args_is_help else get_command(commands)
    _read_texts_plainly(command)
    return command


def _read_texts_plainly(command: Any) -> None:
    """Spare the options of a command, or of each command of a group, pydantic, with which Typer converts values."""
    get_params = command.get_params

    def list_params(ctx: Any) -> list[Any]:
        for parameter in (params := get_params(ctx)):
            parameter.process_value = partial(_process_value, parameter)
        return params

    command.get_params = list_params
    for subcommand in getattr(command, "commands", {}).values():
        _read_texts_plainly(subcommand)


def _process_value(parameter: Any, ctx: Any, value: Any) -> Any:
    """Return the value of an option or argument as Typer does, which converts texts to other types.

    Defaults and flags have their types already.
    """
    parser, annotation = parameter.type_descriptor.parameter_info.parser, parameter.type_descriptor.annotation
    is_missing = parameter.value_is_missing(value)
    if not is_missing and parser:
        value = [*map(parser, value)] if isinstance(value, list | tuple) else parser(value)
    elif is_missing and not parameter.required:
        value = () if parameter.multiple or parameter.nargs == -1 else value
    elif is_missing or (annotation not in (str, list[str]) and type(value) is not annotation):
        return type(parameter).process_value(parameter, ctx, value)
    return parameter.callback(ctx, parameter, value) if parameter.callback else value


class _Commands(TyperGroup):
    """The group of all COMMANDS; the module of a command is only imported when the command is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the called command, the command (None if there is no such command), and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and command else None, rest


app = typer.Typer(
    name="plimsoll",
    cls=_Commands,
    help="Checks performance counters against their documented thresholds.",
    epilog="Exit status: 0 done, 1 a threshold of the severity given with --fail-on or above was crossed, a run is "
    "worse than its baseline, or a case of rules test failed, 2 the input or the call was unusable, 3 a server could "
    "not be reached or does not run, 70 a defect of Plimsoll.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for _name, _help in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


def _print_version(requested: bool) -> None:
    if requested:
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


def main() -> None:
    """Run the command that the arguments of the process call, and exit with its status."""
    # SystemExit, as from Ctrl-C, unwinds the stack: no partial file is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    # The caller may have closed either of them.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Characters that the console's code page lacks must not end the program.
            stream.reconfigure(errors="replace")
    status = 0
    try:
        command = get_command(app)
        _read_texts_plainly(command)
        status = command(prog_name="plimsoll", standalone_mode=False)
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
        for line in _format_usage_error(error):
            _say(line)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _say("plimsoll: interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The program that reads our output has ended. Without this, Python's flush at exit would fail as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(status)
    except OSError as error:
        text = f"{error.filename}: cannot be used" if error.filename else "standard output: cannot be written"
        _say(f"plimsoll: {text}: {error.strerror or error}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNUSABLE)
    except SystemExit:
        raise
    except BaseException as error:  # panics of polars are no Exception
        sys.exit(defects.report(error))


def _say(line: str) -> None:
    with suppress(OSError):  # the reader of stderr may have ended
        print(escape(replace_marks_by_options(line)), file=sys.stderr)


def _format_usage_error(error: typer.TyperException) -> list[str]:
    """Return the message of a usage error as one line, which refers to the help.

    If no command was named, return the lines of the whole help, which is Typer's message then.
    """
    message = error.format_message()
    if "Usage:" in message:
        return message.split("\n")
    line = " ".join(message.split())
    command = ""  # the command called wrongly, such as `rules list`
    context = getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        command = f"{context.info_name} {command}"
        context = context.parent
    return [f"plimsoll: {line}{'' if line.endswith(('.', '?', '!')) else '.'} See plimsoll {command}--help."]
