"""Writes the generated pages. Run `python docs/build.py`; a test checks that they are up to date."""

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose rules/ would shadow the package

import yaml
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from plimsoll.cli.cli import COMMANDS, load_command
from plimsoll.ingest.formats import registry
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.notify.alerts_document import AlertsDocument
from plimsoll.pages.http_api.api_application import create_api, describe
from plimsoll.report.comparison.json_document import ComparisonDocument
from plimsoll.report.json import ReviewDocument
from plimsoll.report.rule_page import describe_signal, explain, format_threshold
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.document import MODELS, RulesDocument, make_schema
from plimsoll.rules.schema.document import build_schema as schema_text
from plimsoll.rules.schema.pack import Pack

HERE = Path(__file__).parent
# All pages in these folders are generated; others are removed.
FOLDERS = ("rules",)
_GENERATED = "<!-- Generated from {} by docs/build.py. -->\n"
_REVIEW = """\
# plimsoll.review/1

What `plimsoll review --json FILE` writes. Times are ISO 8601 in UTC; durations are in seconds and say so in their
name; values are in the unit given with them. Within a version, fields and states of a rule may be added, but are never
changed or removed.

<!-- Generated from plimsoll/report/json.py by docs/build.py. -->
"""
_RULES = """\
# plimsoll.rules/1

What `plimsoll rules list --json FILE` writes. Durations are in seconds and say so in their name; limits are in the
unit given with them. Within a version, fields may be added, but are never changed or removed.

<!-- Generated from plimsoll/rules/schema/document.py by docs/build.py. -->
"""

_ALERTS = """\
# plimsoll.alerts/1

What `plimsoll alerts list --json FILE` writes. Times are ISO 8601 in UTC; values are in the unit given with them.
Within a version, fields may be added, but are never changed or removed.

<!-- Generated from plimsoll/notify/alerts_document.py by docs/build.py. -->
"""
_COMPATIBILITY = """\
# What differs between programs and versions

Where recorders, load drivers, exporters and engines do otherwise than their like, or than they did before: what
differs, in which tried versions, what Plimsoll does, and the test that holds it. Scripts in `findings/` show the
programs alone."""
_EVIDENCE = """\
# Security: limits, and promises with their tests

[security.md](security.md) says what to do. Here are the limits on what `plimsoll up` receives, with its answer beyond
them, and each promise with the tests that hold it."""
_FORMATS = """\
# Formats that are read

The content decides, never the name of a file. [formats.md](formats.md) says how times, names, values and damage are
read."""
_SETTINGS = """\
# All settings

Of `plimsoll.toml` (a run and its hosts) and of `up.toml` (`plimsoll up`). An unknown setting or an invalid value is an
error with its place. Durations are written `30s`, `5m`, `1h30m`. **Needed** settings have no default."""
_COMMANDS = """\
# All commands

What each command's `--help` prints. `plimsoll --install-completion` completes commands in your shell. The
[README](../README.md#use-it-in-a-script) lists the exit statuses.
"""
_OPERATIONS = """\
# Operations of the HTTP API

What `plimsoll up` answers other programs. [http-api.md](http-api.md) has examples, tokens, times and errors;
`/api/docs` of a running one describes each answer, and `/api/openapi.json` is for programs that make clients.

| operation | what it does | parameters |
|---|---|---|"""
_TRIAL = """\
## One machine, four recorders

The mean of each signal over seven minutes of one machine, loaded on processors, disk, network and memory, by Plimsoll's
collector, Telegraf 1.37.2, node_exporter 1.5.0 and sadc 12.6.1 side by side (`python -m bench.recorders --write`), and
every limit that one of them shows to be crossed. **\\*** marks differences of more than 3 % that sampling does not
explain: sysstat's cache excludes the reclaimable slab, and its interrupts contain the shootdowns of `/proc/interrupts`
twice; the kernel cuts pressure to whole percents every two seconds before it averages them, so that its averages are up
to a point lower than those of node_exporter's totals, and 0 below 1 %.
"""
_COMPARISON = """\
# plimsoll.comparison/1

What `plimsoll compare --json FILE` writes. Times are ISO 8601 in UTC; values are in the unit given with them. Within a
version, fields and outcomes may be added, but are never changed or removed.

<!-- Generated from plimsoll/report/comparison/json_document.py by docs/build.py. -->
"""
_SIGNALS = """\
# Signals

The quantities that rules, charts and reports use: what each means, and where its values come from. Of several sources,
the first that has samples is used, for each instance. A path (`\\Memory\\Available Bytes`) is Performance Monitor's,
with `(*)` for every instance except totals; a measurement is Telegraf's or sysstat's.

<!-- Generated from rules/signals by docs/build.py. -->
"""
_CATALOGUE = """\
# Rules

All shipped rules, by pack. `plimsoll rules explain RULE` prints the page of a rule. A `…` after a limit means that the
rule has further conditions, which are on its page; the column *for* says how long the limit must be crossed before the
rule fires. [Evaluation](../evaluation.md) describes exactly how rules are judged, [signals](../signals.md) what they
measure.

<!-- Generated from rules/packs by docs/build.py. -->
"""


_PACKS = "<!-- The rest is generated from signal.py and pack.py in plimsoll/rules/schema/ by docs/build.py. -->\n"


def document_page(intro: str, model: type[BaseModel]) -> str:
    """Return the page of a JSON document: its fields, and those of its parts."""
    parts: dict[str, Any] = model.model_json_schema(by_alias=True, mode="serialization")
    sections = [_section("The document", parts)]
    sections += [_section(name.removesuffix("Part"), part) for name, part in parts["$defs"].items()]
    return "\n".join([intro, *sections])


def signals_page() -> str:
    """Return the page of all signals, by family."""
    signals = load_signals()
    parts = [_SIGNALS]
    for family, names in groupby(sorted(signals, key=_family), _family):
        parts.append(f"## {family}\n")
        parts += [f"{describe_signal(name, signals)}\n" for name in names]
    return "\n".join(parts)


def _family(name: str) -> str:
    return name.partition(".")[0]


def catalogue_page() -> str:
    """Return the page with a table of rules for each pack."""
    signals = load_signals()
    parts = [_CATALOGUE]
    for pack in load().packs:
        rows = [
            f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {signals[rule.signal].title} | "
            f"{format_threshold(rule, signals)} | {format_duration(rule.for_) if rule.for_ else 'at once'} |"
            for rule in pack.rules
        ]
        table = ["| rule | severity | signal | healthy | for |", "|---|---|---|---|---|", *rows]
        parts.append("\n".join([f"## {pack.pack}: {pack.title}", "", pack.about.strip(), "", *table, ""]))
    return "\n".join(parts)


def rule_page(name: str) -> str:
    """Return the page of a rule: the output of `plimsoll rules explain`."""
    rule, pack = next((rule, pack) for pack in load().packs for rule in pack.rules if rule.id == name)
    return f"{explain(rule, pack, load_signals())}\n{_GENERATED.format(f'rules/packs/{pack.pack}.yaml')}"


def packs_page() -> str:
    """Return the page on packs: the hand-written part, then all fields."""
    result, _, _ = (HERE / "packs.md").read_text(encoding="utf-8").partition(_PACKS)
    schema = make_schema(Pack)
    parts = {"Pack": schema} | schema["$defs"]
    sections = [_section(name, parts[name]) for name in _in_order(schema, schema["$defs"])]
    return "\n".join([f"{result}{_PACKS}", *sections])


def compatibility_page() -> str:
    """Return the page of differences between programs and between their versions."""
    groups = yaml.safe_load((HERE / "compatibility.yaml").read_text(encoding="utf-8"))
    head = "| program | versions | what differs | what Plimsoll does | held by |\n|---|---|---|---|---|"
    tables: list[str] = []
    for group in groups:
        rows = [
            f"| {row['program']} | {row['versions']} | {row['differs']} | {row['plimsoll']} | `{row['held_by']}` |"
            for row in group["rows"]
        ]
        tables.append("\n".join([f"## {group['group']}\n", head, *rows]))
    trial = (HERE.parent / "bench" / "recorders.md").read_text(encoding="utf-8")
    tables.append(f"{_TRIAL}\n{trial.strip()}")
    return "\n\n".join([_COMPATIBILITY, *tables]) + "\n\n" + _GENERATED.format("docs/compatibility.yaml")


def evidence_page() -> str:
    """Return the page of the limits on received data, and of the promises of safety with their tests."""
    evidence = yaml.safe_load((HERE / "security.yaml").read_text(encoding="utf-8"))
    limits = [f"| {row['of']} | {row['limit']} | {row['answer']} |" for row in evidence["limits"]]
    promises = [
        f"| {row['promise']} | {', '.join(f'`{test}`' for test in row['tests'])} |" for row in evidence["promises"]
    ]
    parts = [
        _EVIDENCE,
        "\n".join(["## Limits\n", "| of | limit | answer |", "|---|---|---|", *limits]),
        "\n".join(["## Promises\n", "| promise | tests |", "|---|---|", *promises]),
    ]
    return "\n\n".join(parts) + "\n\n" + _GENERATED.format("docs/security.yaml")


def formats_page() -> str:
    """Return the page of all formats of logs. Raise ValueError if the registry has others."""
    groups = yaml.safe_load((HERE / "formats.yaml").read_text(encoding="utf-8"))
    _check_names("formats.yaml", [row["format"] for group in groups for row in group["rows"]], _format_names())
    head = "| format | what writes it | how it is recognised | what is read, and what not |\n|---|---|---|---|"
    parts = [_FORMATS]
    for group in groups:
        rows = [f"| `{r['format']}` | {r['recorder']} | {r['recognised']} | {r['reading']} |" for r in group["rows"]]
        parts.append("\n".join([f"## {group['group']}\n", head, *rows]))
    return "\n\n".join(parts) + "\n\n" + _GENERATED.format("docs/formats.yaml")


def _format_names() -> list[str]:
    return [item.NAME for item in registry.FORMATS]


def settings_page() -> str:
    """Return the page of all settings. Raise ValueError if the code has others than settings.yaml."""
    files = yaml.safe_load((HERE / "settings.yaml").read_text(encoding="utf-8"))
    parts = [_SETTINGS]
    for file in files:
        parts.append(f"## {file['file']}\n\n{file['about']}")
        for table in file["tables"]:
            module, _, name = table["model"].rpartition(".")
            model: Any = getattr(import_module(module), name)
            fields: dict[str, FieldInfo] = getattr(model, "model_fields", None) or {
                part.name: FieldInfo.from_annotated_attribute(object, part) for part in dataclasses.fields(model)
            }
            by_name = {field.alias or name: field for name, field in fields.items() if not field.exclude}
            texts = table["fields"]
            _check_names(f"settings.yaml, {table['model']}", texts, by_name)
            rows = [f"| `{name}` | {text} | {_default(by_name[name])} |" for name, text in texts.items()]
            head = ["| setting | meaning | default |", "|---|---|---|"]
            title = f"`{table['table']}`" if table["table"] else "At the top"
            parts.append("\n".join([f"### {title}\n", *head, *rows]))
    return "\n\n".join(parts) + "\n\n" + _GENERATED.format("docs/settings.yaml")


def commands_page() -> str:
    """Return the page of all commands with their options."""
    sections = [text for name in COMMANDS for text in _command_sections(f"plimsoll {name}", load_command(name))]
    return "\n".join([_COMMANDS, *sections, _GENERATED.format("plimsoll/cli")])


def _command_sections(name: str, command: Any) -> Iterator[str]:
    """Yield the sections of a command, or of each command of a group."""
    for other in (item for item in getattr(command, "commands", {}).values() if not item.hidden):
        yield from _command_sections(f"{name} {other.name}", other)
    if not hasattr(command, "commands"):
        examples = (command.epilog or "").partition("Examples:\n")[2].replace("\n  ", "\n").strip()
        shown = [item for item in command.params if getattr(item, "help", None) and not item.hidden]
        rows = [f"| {_parameter_name(parameter)} | {_cell(parameter.help)} |" for parameter in shown]
        parts = [f"## {name}", command.help, f"```\n{examples}\n```" if examples else ""]
        yield "\n\n".join([*filter(None, parts), "\n".join(["| option | |", "|---|---|", *rows, ""]) if rows else ""])


def _parameter_name(parameter: Any) -> str:
    metavar = (parameter.metavar or "").strip("<>").upper().replace("|", r"\|")
    if parameter.param_type_name == "argument":
        return f"`{metavar or parameter.name.upper()}`"
    return f"`{', '.join((*parameter.opts, *parameter.secondary_opts))}{' ' + metavar if metavar else ''}`"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("<", r"\<")


def operations_page() -> str:
    """Return the page of all operations of the HTTP API."""
    nothing: Any = None  # no operation is called
    paths: dict[str, dict[str, Any]] = describe(create_api(nothing, nothing, nothing))["paths"]
    rows = [
        f"| `{method.upper()} {path}` | {operation['summary']} | {_parameters(operation)} |"
        for path, operations in paths.items()
        for method, operation in operations.items()
    ]
    return "\n".join([_OPERATIONS, *rows]) + "\n\n" + _GENERATED.format("plimsoll/pages/http_api")


def _parameters(operation: dict[str, Any]) -> str:
    return ", ".join(f"`{item['name']}`" for item in operation.get("parameters", ()) if item["in"] == "query")


def _check_names(where: str, described: Iterable[str], names: Iterable[str]) -> None:
    if different := {*described} ^ {*names}:
        raise ValueError(f"docs/{where}: describes others than the code has: {', '.join(sorted(different))}")


def _default(field: FieldInfo) -> str:
    """Return the default of a setting as the file states it; empty for a table, or without a default."""
    if field.is_required():
        return "**needed**"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Zone):
        return f"`{value.name}`"
    if dataclasses.is_dataclass(value) or isinstance(value, BaseModel | SecretStr) or not (value or value is False):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value)
    if isinstance(value, int) and value >= SECOND:
        return f"{value >> 30} GB" if value % (1 << 30) == 0 else format_duration(value)
    return f"`{value}`"


def _in_order(part: Any, named: Mapping[str, Any]) -> list[str]:
    """Return the names of a schema's parts in order of first reference."""
    fields = {"Pack": part}
    left = [part]
    for item in left:
        for name in (name for name in _named(item) if name in named and name not in fields):
            fields[name] = named[name]
            left.append(named[name])
    return list(fields)


def _named(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"].rpartition("/")[2]
        for key, value in part.items():
            if key != "$defs":
                yield from _named(value)
    if isinstance(part, list):
        for value in part:
            yield from _named(value)


def pages() -> Mapping[str, Callable[[], str]]:
    """Return all generated pages: their paths from this folder, and the functions that make them."""
    fixed = {
        "review-json.md": partial(document_page, _REVIEW, ReviewDocument),
        "compare-json.md": partial(document_page, _COMPARISON, ComparisonDocument),
        "rules-json.md": partial(document_page, _RULES, RulesDocument),
        "alerts-json.md": partial(document_page, _ALERTS, AlertsDocument),
        "signals.md": signals_page,
        "packs.md": packs_page,
        "compatibility.md": compatibility_page,
        "security-evidence.md": evidence_page,
        "log-formats.md": formats_page,
        "commands.md": commands_page,
        "http-operations.md": operations_page,
        "settings-reference.md": settings_page,
        **{f"../rules/{name}": partial(schema_text, name, load_signals()) for name in MODELS},
        "rules/README.md": catalogue_page,
    }
    return fixed | {f"rules/{rule.id}.md": partial(rule_page, rule.id) for pack in load().packs for rule in pack.rules}


def stale() -> list[Path]:
    """Return the pages in the generated folders that are no longer generated."""
    written = {HERE / name for name in PAGES}
    return [path for folder in FOLDERS for path in sorted((HERE / folder).glob("*")) if path not in written]


PAGES = pages()


def _section(title: str, part: dict[str, Any]) -> str:
    rows = [
        f"| `{name}` | {_type(field)} | {_described(name, field, part)} |" for name, field in part["properties"].items()
    ]
    about = part.get("description", "")
    return "\n".join([f"## {title}", "", about, "", "| field | type | |", "|---|---|---|", *rows, ""])


def _described(name: str, field: dict[str, Any], part: dict[str, Any]) -> str:
    """Return the description of a field; in files that people write, with its default or that it is needed."""
    text = field.get("description", "")
    if "additionalProperties" not in part:
        return text
    if name in part.get("required", ()):
        return f"{text} **Needed.**".strip()
    if "default" in field and not isinstance(field["default"], dict):
        default = field["default"]
        return f"{text} Default: `{str(default).lower() if isinstance(default, bool) else default}`."
    return text


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2].removesuffix("Part")
        return "signal" if name == "SignalName" else name
    if "enum" in field or "const" in field:
        return ", ".join(f'"{value}"' for value in field.get("enum", [field.get("const")]))
    if "format" in field:
        return field["format"]
    if field["type"] == "array":
        return f"list of {_type(field['items'])}"
    if field["type"] == "object":
        (values,) = field.get("patternProperties", {"": field["additionalProperties"]}).values()
        return f"{_type(values)} by {'signal' if 'patternProperties' in field else 'name'}"
    return field["type"]


def main() -> None:
    """Write all pages, and remove those that are no longer generated."""
    for name, page in PAGES.items():
        (HERE / name).parent.mkdir(exist_ok=True)
        (HERE / name).write_text(page(), encoding="utf-8", newline="\n")
    for path in stale():
        path.unlink()


if __name__ == "__main__":
    main()
