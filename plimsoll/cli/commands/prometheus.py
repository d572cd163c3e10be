"""`plimsoll prometheus`."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.cli.console import print_error, print_line
from plimsoll.cli.outputs import write_text
from plimsoll.export.prometheus.check import mistakes
from plimsoll.export.prometheus.export import GENERATED, TESTS
from plimsoll.export.prometheus.export import export as export_packs
from plimsoll.export.prometheus.names import names as exporter_names
from plimsoll.export.prometheus.rules import Options
from plimsoll.hosts.settings import Settings, load
from plimsoll.hosts.site import site_of
from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.remark import counted
from plimsoll.model.strict_yaml import Mistakes
from plimsoll.model.times import SECOND, parse_duration
from plimsoll.rules.load import load as load_rules

_RULES = "*.rules.yaml"
_TELEGRAF = "telegraf"


def options(interval: str, docs: str, names: Sequence[str] = ()) -> Options:
    """The options of the export. Unusable if the interval is not a duration of whole seconds, or a name unknown."""
    known = exporter_names()
    for name in names:
        if name not in (*known, _TELEGRAF):
            raise Unusable(
                f'--names: "{name}" is not known{suggest(name, known)}; choose from telegraf, {", ".join(known)}'
            )
    try:
        length = parse_duration(interval)
    except ValueError as error:
        raise Unusable(f"--interval: {error}") from None
    if length < SECOND or length % SECOND:
        raise Unusable(f'--interval: "{interval}" is not a number of whole seconds')
    return Options(interval=length, docs=docs, names=tuple(name for name in dict.fromkeys(names) if name != _TELEGRAF))


def export(out: Path, config: Path | None, options: Options, packs: Sequence[str], only: Sequence[str]) -> None:
    """Write rules to OUT and their unit tests to OUT/tests. Rules that PromQL cannot say are named on stderr."""
    catalogue = load_rules(packs, only)
    settings = load(config) if config else Settings()
    site = site_of(settings, config or Path("plimsoll.toml"), catalogue)
    options = replace(options, by_hand=catalogue.by_hand)
    made = export_packs(catalogue.packs, catalogue.signals, site, options)
    if not made.files:
        raise Unusable(f"no rule can be exported: {made.refused[0] if made.refused else 'the packs have none'}")
    _clear(out)
    for name, text in made.files.items():
        write_text(out / name, text)
    for refused in made.refused:
        print_error(f"not exported: {refused}")
    print_line(f"{counted(made.rules, 'alerting rule')} to {out}")
    print_line(f"{counted(made.cases, 'case')} for promtool test rules to {out / TESTS}")


def check(paths: Sequence[Path], packs: Sequence[str]) -> None:
    """Check rule files, or those of folders. Raises Mistakes, with every mistake found."""
    files: dict[str, str] = {}
    for path in paths or [Path("prometheus")]:
        found = sorted(path.glob(_RULES)) if path.is_dir() else [path]
        if not found:
            raise Unusable(f"{path}: has no {_RULES}; write them with plimsoll prometheus export")
        for one in found:
            try:
                files[str(one)] = one.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Unusable(
                    f"{one}: cannot be read: {error}; name rule files, or write them with plimsoll prometheus export"
                ) from None
    promtool = shutil.which("promtool")
    wrong = mistakes(files, load_rules(packs, ()).signals)
    if promtool:
        wrong += _syntax_errors(promtool, [*files])
    if wrong:
        raise Mistakes(wrong)
    print_line(f"ok: {counted(len(files), 'file')}{'' if promtool else '; there is no promtool, syntax unchecked'}")


def _syntax_errors(promtool: str, files: Sequence[str]) -> list[str]:
    """Return what promtool has against the files."""
    command = [promtool, "check", "rules", "--lint=none", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line.strip() for line in done.stderr.splitlines() if line.strip()] if done.returncode else []


def _clear(out: Path) -> None:
    """Make the folders, and remove the files of an earlier export."""
    try:
        for folder, pattern in ((out, _RULES), (out / TESTS, "*.test.yaml")):
            folder.mkdir(parents=True, exist_ok=True)
            for one in folder.glob(pattern):
                if one.read_text(encoding="utf-8", errors="replace").startswith(GENERATED):
                    one.unlink()
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be written: {error.strerror or error}") from None
