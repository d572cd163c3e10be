"""The inputs of a command, as typed."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.api.reading_ahead import Reading, read_ahead
from plimsoll.cli.console import print_notice
from plimsoll.cli.memory import keep_what_is_freed
from plimsoll.model.time_arguments import TimeRange


def typed_inputs(
    sources: Sequence[str],
    zone: str | None,
    format_: str | None,
    encoding: str | None,
    names: Sequence[Path] | None,
    store: str | None,
    when: tuple[str | None, str | None, str | None] = (None, None, None),
) -> Inputs:
    """The inputs; `when` is what was typed for --from, --to and --last."""
    range_ = TimeRange(*when)
    return Inputs(tuple(sources), zone, format_, encoding, tuple(names or ()), store, range_, notify=print_notice)


def begin_to_read(inputs: Inputs) -> Reading | None:
    """Begin to read in the background: what a command then imports takes as long as most logs."""
    keep_what_is_freed()
    return read_ahead([inputs])[0]
