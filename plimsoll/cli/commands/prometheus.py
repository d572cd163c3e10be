"""`plimsoll prometheus`."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from plimsoll.cli import args
from plimsoll.cli.console import print_error, print_line
from plimsoll.cli.outputs import write_text
from plimsoll.export.prometheus.alerting_rules import PrometheusOptions
from plimsoll.export.prometheus.check import mistakes
from plimsoll.export.prometheus.recording_rules import names as exporter_names
from plimsoll.export.prometheus.rule_files import GENERATED, TESTS
from plimsoll.export.prometheus.rule_files import export as export_packs
from plimsoll.hosts.settings import Settings, load
from plimsoll.hosts.site import site_of
from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.remark import counted
from plimsoll.model.strict_yaml import Mistakes
from plimsoll.model.times import SECOND, parse_duration
from plimsoll.rules.load import load as load_rules

_RULES = "*.rules.yaml"
_TELEGRAF = "telegraf"


app = args.command_app("Write and check alerting rules for Prometheus, Mimir and VictoriaMetrics.")


@app.command(
    "export",
    epilog=args.examples(
        "plimsoll prometheus export", "plimsoll prometheus export --only linux --interval 15s --out plimsoll-rules"
    ),
)
def export(
    out: Path = args.path_option(Path("prometheus"), "--out", "The folder to write to."),
    config: Path | None = args.path_option(None, "--config", "A plimsoll.toml with host facts and changed thresholds."),
    interval: str = typer.Option(
        "10s", "--interval", help="The time between samples; windows shorter than twice this are widened to it."
    ),
    names: list[str] | None = typer.Option(
        None,
        "--names",
        help="What records the metrics, besides Telegraf: node_exporter, windows_exporter or opentelemetry. Adds "
        "recording rules that give them Telegraf's names. May be repeated.",
    ),
    packs: args.PackOption = None,
    only: args.OnlyOption = None,
    docs: str = typer.Option("", "--docs", help="The URL that links to a rule's page begin with. Default: no links."),
) -> None:
    """Write packs as alerting rules with unit tests. Rules that PromQL cannot say are named on stderr."""
    catalogue = load_rules(packs or (), only or ())
    settings = load(config) if config else Settings()
    site = site_of(settings, config or Path("plimsoll.toml"), catalogue)
    options = replace(_options(interval, docs, names or ()), by_hand=catalogue.by_hand)
    exported = export_packs(catalogue.packs, catalogue.signals, site, options)
    if not exported.files:
        raise Unusable(f"no rule can be exported: {exported.refused[0] if exported.refused else 'the packs have none'}")
    try:
        for folder, pattern in ((out, _RULES), (out / TESTS, "*.test.yaml")):
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob(pattern):
                if path.read_text(encoding="utf-8", errors="replace").startswith(GENERATED):
                    path.unlink()
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be written: {error.strerror or error}") from None
    for name, text in exported.files.items():
        write_text(out / name, text)
    for refused in exported.refused:
        print_error(f"not exported: {refused}")
    print_line(f"{counted(exported.rules, 'alerting rule')} to {out}")
    print_line(f"{counted(exported.cases, 'case')} for promtool test rules to {out / TESTS}")


@app.command("check", epilog=args.examples("plimsoll prometheus check", "plimsoll prometheus check plimsoll-rules"))
def check(
    paths: list[Path] | None = typer.Argument(
        None, help="Rule files, or folders of them. Default: prometheus here.", metavar="PATH"
    ),
    packs: args.PackOption = None,
) -> None:
    """Check rule files. Every mistake is printed with its place; the exit status is then 2."""
    files: dict[str, str] = {}
    for path in paths or [Path("prometheus")]:
        rule_files = sorted(path.glob(_RULES)) if path.is_dir() else [path]
        if not rule_files:
            raise Unusable(f"{path}: has no {_RULES}; write them with plimsoll prometheus export")
        for rule_file in rule_files:
            try:
                files[str(rule_file)] = rule_file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Unusable(
                    f"{rule_file}: cannot be read: {error}; "
                    "name rule files, or write them with plimsoll prometheus export"
                ) from None
    promtool = shutil.which("promtool")
    wrong = [*mistakes(files, load_rules(packs or (), ()).signals)]
    if promtool:
        command = [promtool, "check", "rules", "--lint=none", *[*files]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wrong += [line.strip() for line in done.stderr.splitlines() if line.strip()] if done.returncode else []
    if wrong:
        raise Mistakes(wrong)
    print_line(f"ok: {counted(len(files), 'file')}{'' if promtool else '; there is no promtool, syntax unchecked'}")


def _options(interval: str, docs: str, names: Sequence[str] = ()) -> PrometheusOptions:
    """The options of the export. Unusable if the interval is not a duration of whole seconds, or a name unknown."""
    exporters = exporter_names()
    for name in names:
        if name not in (*exporters, _TELEGRAF):
            raise Unusable(
                f'--names: "{name}" is not known{suggest(name, exporters)}; '
                f"choose from telegraf, {', '.join(exporters)}"
            )
    try:
        length = parse_duration(interval)
    except ValueError as error:
        raise Unusable(f"--interval: {error}") from None
    if length < SECOND or length % SECOND:
        raise Unusable(f'--interval: "{interval}" is not a number of whole seconds')
    return PrometheusOptions(
        interval=length, docs=docs, names=tuple(name for name in dict.fromkeys(names) if name != _TELEGRAF)
    )
