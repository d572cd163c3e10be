"""The inputs of a command, as typed."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.api.inputs import Inputs
from plimsoll.cli.console import print_notice
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
