"""`plimsoll rules`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from plimsoll.api.inputs import read
from plimsoll.cli import args
from plimsoll.cli.console import print_error, print_line, print_lines, print_plain
from plimsoll.cli.outputs import STDOUT, is_stdout, refuse_overwriting, write_json, write_text
from plimsoll.export.counters import logman, telegraf
from plimsoll.export.counters.counter_list import CounterList, list_signals, make_counter_list
from plimsoll.model.counter_names.unrecognised import UnknownCounter, find_unknown_counters
from plimsoll.model.errors import Unusable, escape, suggest
from plimsoll.model.remark import format_count
from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, format_duration
from plimsoll.report import rule_page
from plimsoll.rules.cases import run_case
from plimsoll.rules.load import YAML, load
from plimsoll.rules.pack_from_log import choose_counters, pack_text
from plimsoll.rules.schema.document import PACK, TITLES, build_document, read_shipped
from plimsoll.rules.schema.pack import Rule

# The first line of the template names this file.
SCHEMA = "plimsoll-pack.schema.json"
_TEMPLATE = "new_pack.yaml"
_HEAD = f"# yaml-language-server: $schema={SCHEMA}"
_MONTH = 30 * 86_400 * SECOND
_INTERVAL = 15 * SECOND  # Performance Monitor's default
# The names SQL Server allows, or a variable in Telegraf's configuration.
_INSTANCE = re.compile(r"[A-Za-z_][\w#$]{0,15}")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(:-[\w#]+)?\}")
# The program that records the counters.
Form: TypeAlias = Literal["list", "logman", "telegraf"]
_COLUMNS = ("rule", "severity", "signal", "healthy", "for", "sources")
PacksArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Shipped packs by name, or .yaml files. Default: all shipped packs.", metavar="PACK"),
]
app = args.make_command_app("List, check, explain and write rules; a pack is a file of rules.")


@app.command("list", epilog=args.format_examples("plimsoll rules list", "plimsoll rules list --only windows"))
def list_rules(pack: args.PackOption = None, only: args.OnlyOption = None, json: args.JsonOption = None) -> None:
    """List rules: severity, signal, threshold (… stands for further conditions), duration, number of sources."""
    catalogue = load(pack or (), only or ())
    packs, signals = catalogue.packs, catalogue.signals
    if json is not None:
        write_json(json, build_document(packs, signals).model_dump_json(by_alias=True, indent=2))
    if json == STDOUT:
        return
    rows = {
        pack.pack: [
            (
                rule.id,
                rule.severity,
                escape(signals[rule.signal].title),
                rule_page.format_threshold(rule, signals),
                format_duration(rule.for_) if rule.for_ else "at once",
                str(len(rule.sources)),
            )
            for rule in pack.rules
        ]
        for pack in packs
    }
    table = [_COLUMNS, *(row for of_pack in rows.values() for row in of_pack)]
    widths = [max(len(row[at]) for row in table) for at in range(len(_COLUMNS))]
    print_lines([(f"  {_format_line(_COLUMNS, widths)}",)])
    for listed in packs:
        print_lines(
            [(f"{listed.pack}: {listed.title}",), *((f"  {_format_line(row, widths)}",) for row in rows[listed.pack])]
        )


def _format_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


@app.command("check", epilog=args.format_examples("plimsoll rules check mine.yaml"))
def check(packs: PacksArgument = None, pack: args.PackOption = None, only: args.OnlyOption = None) -> None:
    """Check packs. All mistakes are printed with file, line and column; if there are any, the exit status is 2."""
    checked = load((*(packs or ()), *(pack or ())), only or ()).named  # loading packs checks them
    print_line(
        f"ok: {format_count(sum(len(pack.rules) for pack in checked), 'rule')} in {format_count(len(checked), 'pack')}"
    )


@app.command("explain", epilog=args.format_examples("plimsoll rules explain cpu-busy"))
def explain(
    rule: str = typer.Argument(..., help="A rule's id: cpu-busy.", metavar="RULE"),
    host: str = typer.Option("", "--host", help="Also say which limit counts on this host."),
    settings: Path | None = args.path_option(None, "--settings", "With --host: the plimsoll.toml."),
    store: args.FolderOption = None,
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
) -> None:
    """Explain a rule: the counter, the threshold and its reason, the sources, and the signals to look at next."""
    catalogue = load(pack or (), only or ())
    by_id = {rule.id: (rule, pack) for pack in catalogue.packs for rule in pack.rules}
    _find_rule(rule, catalogue.rules)
    print_lines((line,) for line in rule_page.strip_markdown(rule_page.explain(*by_id[rule], catalogue.signals)))
    if host:
        from plimsoll.api.data_folder import find_default_folder
        from plimsoll.hosts import overlay
        from plimsoll.hosts import settings as host_settings

        content = host_settings.load(settings) if settings else host_settings.Settings()
        overrides = overlay.load_with_overlay(content, settings, store or find_default_folder(), catalogue)
        _, override = overrides.of(by_id[rule][0], host)
        print_line(f"On {escape(host)}: {override.note if override else 'as documented'}")


@app.command("preview", epilog=args.format_examples("plimsoll rules preview cpu-busy --healthy '< 90 %' --for 10m"))
def preview_limit(
    rule: str = typer.Argument(..., help="A rule's id: cpu-busy.", metavar="RULE"),
    healthy: str = typer.Option("", "--healthy", help='The limit, as it is healthy: "< 90 %".', metavar="LIMIT"),
    length: str = typer.Option("", "--for", help="How long it must be crossed: 10m.", metavar="TIME"),
    host: str = typer.Option("*", "--host", help='Only on this host; * stands for any text: "web*".'),
    start: args.FromOption = None,
    end: args.ToOption = None,
    last: args.LastOption = None,
    store: args.UpStoreOption = None,
    settings: Path | None = args.path_option(None, "--settings", "The plimsoll.toml that plimsoll up was given."),
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
) -> None:
    """Say how often a changed limit would have fired on the samples of plimsoll up, and how often the present one did.

    By default, samples of 30 days are judged.
    """
    from plimsoll.alerting import preview
    from plimsoll.cli.commands.alerts import open_judged_store, parse_judged_range

    with open_judged_store(store, settings, pack, only) as (reader, site, facts, zone, evaluated):
        documented = _find_rule(rule, site.catalogue.rules)
        values = {"healthy": healthy, "for": length}
        changed = preview.parse_rule_settings(values, documented, site) if healthy or length else None
        begin, finish = parse_judged_range(TimeRange(start, end, last), zone, _MONTH, evaluated)
        shown = preview.preview(reader, site, facts, documented, changed, begin, finish, host)
    for line in preview.strip_lines(shown, zone):
        print_line(line)


def _find_rule(name: str, rules: Mapping[str, Rule]) -> Rule:
    """Return the rule with an id. Raise Unusable, which suggests a similar id, if there is none."""
    if name not in rules:
        raise Unusable(f'rule "{name}" is not known{suggest(name, list(rules))}; plimsoll rules list names them all')
    return rules[name]


@app.command("test", epilog=args.format_examples("plimsoll rules test mine.yaml", "plimsoll rules test"))
def run_cases(packs: PacksArgument = None, pack: args.PackOption = None, only: args.OnlyOption = None) -> None:
    """Run the test cases in packs. The exit status is 1 if a case fails."""
    catalogue = load((*(packs or ()), *(pack or ())), only or ())
    cases = failed = 0
    for tested in catalogue.named:
        for rule in tested.rules:
            for case in rule.cases:
                cases += 1
                if wrong := run_case(rule, case, catalogue.signals):
                    failed += 1
                    print_line(f'{catalogue.files[tested.pack]}: rule {rule.id}: case "{case.name}": {wrong}')
    rules = sum(len(tested.rules) for tested in catalogue.named)
    print_line(f"{format_count(cases, 'case')} of {format_count(rules, 'rule')}, {failed} failed")
    raise typer.Exit(1 if failed else 0)


@app.command("new", epilog=args.format_examples("plimsoll rules new mine.yaml"))
def new_pack(
    path: Path = typer.Argument(..., help="The file to write: mine.yaml.", metavar="FILE"),
    from_log: list[str] | None = typer.Option(
        None,
        "--from",
        help="A log. Its Windows counters that no signal reads yet each get a signal. Repeat for more logs.",
        metavar="LOG",
    ),
    counter: list[str] | None = typer.Option(
        None,
        "--counter",
        help="With --from, only counters that match; * stands for any text: 'Shop Orders\\*'. Repeat for more.",
    ),
) -> None:
    """Write a new pack to edit, and beside it the JSON schema for editors.

    The pack is an example with comments; with --from, it has a signal for each counter that no signal reads yet.
    """
    if counter and not from_log:
        raise Unusable("--counter is for the counters of a log: name it with --from")
    if path.suffix not in YAML:
        raise Unusable(f"{path}: a pack is a .yaml file; write it like {path.stem or 'mine'}.yaml")
    beside = path.parent / SCHEMA
    schema = read_shipped(PACK)
    try:
        if path.exists():
            raise Unusable(f"{path}: exists already, and is not written over; name another file")
        ours = not beside.exists() or TITLES[PACK] in beside.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read: {error.strerror}") from None
    if not ours:
        raise Unusable(f"{beside}: is not Plimsoll's, and is not written over; name a file in another folder")
    name = _name(path)
    if from_log:
        counters = _choose(from_log, counter or ())
        write_text(beside, schema)
        write_text(path, pack_text(name, _HEAD, counters))
        count = format_count(len(counters), "counter")
        print_line(f"{path}: a signal for {count}; write rules on them, then plimsoll rules check {path}")
        return
    template = find_shipped_files("rules").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    text = (
        template.replace("my-pack", name).replace("my_pack", name.replace("-", "_")).replace("FILE", escape(str(path)))
    )
    write_text(beside, schema)
    write_text(path, text)
    print_line(f"{path}: an example to change; check it with plimsoll rules check {path}")


def _choose(logs: Sequence[str], patterns: Sequence[str]) -> list[UnknownCounter]:
    unknown = find_unknown_counters(series for log in read(args.parse_inputs(logs)).logs for series in log.series)
    if not unknown:
        raise Unusable(f"{logs[0]}: every Windows counter in it has a signal already")
    if matches := choose_counters(unknown, patterns):
        return matches
    raise Unusable(f"no counter without a signal matches {', '.join(patterns)}; plimsoll show {logs[0]} lists them")


def _name(path: Path) -> str:
    """Return a pack's name made from a file's name; `my-` is put before it if a shipped pack has the same name."""
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.casefold()).strip("-") or "mine"
    return f"my-{name}" if name in {pack.pack for pack in load().packs} else name


@app.command(
    "counters",
    epilog=args.format_examples(
        "plimsoll rules counters --out counters.txt",
        "plimsoll rules counters --only sql-server-today --instance PAYROLL --as logman --out sql.xml",
    ),
)
def list_counters(
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
    form: Form = typer.Option(
        "list",
        "--as",
        help="list (typeperf -cf, logman create counter -cf), logman (a Data Collector Set, logman import -xml) or "
        "telegraf (inputs.win_perf_counters).",
    ),
    instance: list[str] | None = typer.Option(
        None, "--instance", help="Add a named instance of SQL Server: PAYROLL. Repeat for more."
    ),
    interval: str | None = typer.Option(
        None,
        "--interval",
        help="The sampling interval. Default: 15s for logman, the agent's own for telegraf.",
        callback=args.refuse_empty,
    ),
    out: Path | None = args.path_option(None, "--out", "The file; default: stdout."),
) -> None:
    """List the Windows counters to record, in a form for typeperf, logman or Telegraf.

    The list has the counters of all signals, also of your own packs; with --only, of the named packs alone.
    docs/collect.md explains how to record them.
    """
    sampling_interval = _parse_interval(interval, form)
    needed = _list_needed_counters(pack or (), only or (), form, instance or ())
    if form == "telegraf":
        text = telegraf.format_inputs(needed, sampling_interval)
    elif form == "logman":
        text = logman.format_template(needed, sampling_interval or _INTERVAL)
    else:
        text = needed.as_list()
        for note in needed.notes:  # the form `list` has no comments
            print_error(f"remark: {note}")
    if out is None or out == STDOUT:
        print_plain(text)
        return
    refuse_overwriting((), out, also_read=[Path(name) for name in (*(pack or ()), *(only or ()))])
    # Windows' own programs read the other two forms.
    write_text(out, text if form == "telegraf" else text.replace("\n", "\r\n"))
    if not is_stdout(out):
        objects = format_count(len(needed.by_object()), "object")
        print_line(f"{out}: {format_count(len(needed.recorded), 'counter')} of {objects}")


def _list_needed_counters(
    packs: Sequence[str], only: Sequence[str], form: Form, instances: Sequence[str]
) -> CounterList:
    """Return the counters of all signals (dashboards draw signals without rules), or of the packs in `only`.

    Raise Unusable if a named pack needs no counters, or if --instance is used and no counter is of SQL Server.
    """
    for name in instances:
        if _VARIABLE.fullmatch(name):
            if form != "telegraf":
                raise Unusable(f"--instance {name}: only Telegraf takes variables; write the instance's name")
        elif not _INSTANCE.fullmatch(name) or name.casefold().startswith("mssql$"):
            raise Unusable(f'--instance "{name}" is not the name of an instance of SQL Server; write it like PAYROLL')
    catalogue = load(packs, only)
    signals = catalogue.signals
    for pack in catalogue.named if catalogue.by_hand else ():
        if not make_counter_list(list_signals([pack], signals), signals).paths:
            raise Unusable(
                f"pack {pack.pack}: nothing to collect: none of its signals is taken from a counter that a Windows of "
                "today has; name another pack"
            )
    names = list_signals(catalogue.packs, signals) if only else tuple(signals)
    needed = make_counter_list(names, signals, instances)
    if instances and needed == make_counter_list(names, signals):
        raise Unusable(
            f"--instance {instances[0]}: none of these counters is SQL Server's; leave it out, or choose "
            "--only sql-server as well"
        )
    return needed


def _parse_interval(typed: str | None, form: Form) -> int | None:
    """Return the sampling interval (ns); None for the default. Raise Unusable if the output format has none."""
    if typed is None:
        return None
    if form == "list":
        raise Unusable("--interval: a list does not hold it; give typeperf or logman -si 15, or choose --as logman")
    interval = args.parse_duration_option("--interval", typed)
    if interval < SECOND or interval % SECOND:
        raise Unusable(f"--interval {typed} is not whole seconds, 1 or more; write it like 15s")
    return interval
