"""The command line: its commands, and what its exit statuses are. What each takes stands in options/."""

import io
import os
import signal
import sys
from typing import Annotated

import typer

from model.errors import Unreachable, Unusable
from plimsoll.options import grafana, logs, rules, runs, stack

UNUSABLE = 2
UNREACHABLE = 3
INTERRUPTED = 130
_TERMINATED = 128 + signal.SIGTERM

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

app.command("demo")(logs.demo_command)
app.command("show")(logs.show_command)
app.command("convert")(logs.convert_command)
app.command("review")(logs.review_command)
app.command("ingest")(logs.ingest_command)
app.add_typer(runs.app, name="runs")
app.add_typer(rules.app, name="rules")
app.add_typer(grafana.app, name="grafana")
app.add_typer(stack.app, name="stack")


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415  only here

        print(f"plimsoll {version('plimsoll')}")
        raise typer.Exit


@app.callback()
def plimsoll_command(
    version: Annotated[
        bool, typer.Option("--version", help="Tell the version, and end.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Holds performance counters against their documented thresholds."""


def main() -> None:
    """Run the command line; the process ends with its exit status."""
    # As an interrupt does, it ends what is open, so that no half-written file stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
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
        print(_sentence(error.format_message()), file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        print("plimsoll: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Who reads our output went away; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        what = f"{error.filename}: cannot be used" if error.filename else "standard output: cannot be written"
        print(f"plimsoll: {what}: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNUSABLE)


def _sentence(said: str) -> str:
    """What typer says of a call, in one line; without a command that is the help, which stays as it is."""
    if "Usage:" in said:
        return said
    line = " ".join(said.split())
    return f"plimsoll: {line}{'' if line.endswith(('.', '?', '!')) else '.'} See plimsoll --help."
