"""`plimsoll prometheus`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from plimsoll.cli import args
from plimsoll.cli.console import print_line
from plimsoll.cli.outputs import report_refusals, write_text
from plimsoll.export.prometheus.alerting_rules import PrometheusOptions
from plimsoll.export.prometheus.rule_files import GENERATED
from plimsoll.export.prometheus.rule_files import export as export_packs
from plimsoll.hosts.settings import Settings, load
from plimsoll.hosts.site import load_site
from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.remark import format_count
from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.exporter_files import load_exporters
from plimsoll.rules.load import load as load_rules

_TELEGRAF = "telegraf"
app = args.make_command_app("Write alerting rules for Prometheus, Mimir and VictoriaMetrics.")


@app.command(
    "export",
    epilog=args.format_examples(
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
        help="A recorder of metrics besides Telegraf: node_exporter, windows_exporter, opentelemetry, cadvisor. Adds "
        "recording rules that give them Telegraf's names. May be repeated.",
    ),
    packs: args.PackOption = None,
    only: args.OnlyOption = None,
    docs: str = typer.Option("", "--docs", help="The URL that links to a rule's page begin with. Default: no links."),
) -> None:
    """Write packs as alerting rules. What PromQL cannot express is listed."""
    catalogue = load_rules(packs or (), only or ())
    settings = load(config) if config else Settings()
    site = load_site(settings, config or Path("plimsoll.toml"), catalogue)
    options = replace(_parse_options(interval, docs, names or ()), by_hand=catalogue.by_hand)
    exported = export_packs(catalogue.packs, catalogue.signals, site, options)
    if not exported.files:
        raise Unusable(f"no rule can be exported: {exported.refused[0] if exported.refused else 'the packs have none'}")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path in out.glob("*.rules.yaml"):
            if path.read_text(encoding="utf-8", errors="replace").startswith(f"# {GENERATED}"):
                path.unlink()
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be written: {error.strerror or error}") from None
    for name, text in exported.files.items():
        write_text(out / name, text)
    report_refusals(exported.refused, out)
    print_line(f"{format_count(exported.rules, 'alerting rule')} to {out}")


def _parse_options(interval: str, docs: str, names: Sequence[str] = ()) -> PrometheusOptions:
    """Return the options of an export.

    Raise Unusable for an interval that is not a number of whole seconds, or an unknown recorder in `names`.
    """
    choices = (_TELEGRAF, *load_exporters())
    for name in names:
        if name not in choices:
            raise Unusable(f'--names: "{name}" is not known{suggest(name, choices)}; choose from {", ".join(choices)}')
    length = args.parse_duration_option("--interval", interval)
    if length < SECOND or length % SECOND:
        raise Unusable(f'--interval: "{interval}" is not a number of whole seconds')
    return PrometheusOptions(
        interval=length, docs=docs, names=tuple(name for name in dict.fromkeys(names) if name != _TELEGRAF)
    )
