"""Exports packs as rule files for Prometheus, and exporters' metrics as recording rules; see docs/prometheus.md."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.export.prometheus.alerting_rules import PrometheusOptions, list_alerting_rules
from plimsoll.export.prometheus.promql import PLAIN_NAME, format_duration, number, quote_text
from plimsoll.export.rule_export import RuleExport, write_yaml
from plimsoll.export.rule_sources import Refusal
from plimsoll.export.selections import OBJECT, POLLED
from plimsoll.hosts.site import SiteSettings
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.perfmon import SQL_NAMED
from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.exporter_files import (
    DEFAULT_SERVER,
    Formula,
    MetricGroup,
    load_exporters,
    make_plain_name,
)
from plimsoll.rules.host_filter import downgrade_superseded
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.quoting import escape_regex

_OF_SCRAPE = ("host", "instance", "job")
# The label host if there is one, else the scraped address without its port.
_HOST = r"(?:([^;]+);.*|;(.*?)(?::[0-9]+)?)"
_SIGNS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


@dataclass(frozen=True)
class _Written:
    """The PromQL of the recording rules for one group of an exporter's metrics, scraped every `interval` ns."""

    group: MetricGroup
    interval: int

    @property
    def by(self) -> str:
        """The clause that keeps the labels of the scrape and of the group: `by (host, instance, job, cpu)`."""
        return f"by ({', '.join((*_OF_SCRAPE, *(label for label in self.group.labels if label not in _OF_SCRAPE)))})"

    def formula(self, formula: Formula) -> str:
        """Return a field's formula as PromQL, computed from the newest samples."""
        return f"({self._express_node(formula.tree, None)})"

    def choices(self, expr: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the expression and the tags for each value of a tag that depends on the value of a metric.

        The expression is restricted to the series where the metric has that value. If no tag depends on a metric, yield
        only the unrestricted expression.
        """
        if not self.group.when:
            yield expr, {}
            return
        for tag, by in self.group.when.items():
            for metric, texts in by.items():
                for value, chosen in texts.items():
                    yield f"({expr}) and ({self._express_metric(metric, None)} == {value})", {tag: chosen}

    def rule(self, field: str, expr: str, chosen: Mapping[str, str]) -> dict[str, Any]:
        """Return the recording rule that gives `expr` a field's name and Telegraf's tags, with the tags `chosen`."""
        group = self.group
        host = f'label_join({expr}, "host", ";", "host", "instance")'
        replaced = _replace_label(host, "host", "$1$2", "host", _HOST)
        labels, kept = dict(chosen), ["host"]
        filled = dict.fromkeys(group.labels, "x") | ({group.server: DEFAULT_SERVER} if group.server else {})
        series = group.series("h", filled, field, dict(chosen))
        if group.object is not None:
            replaced = _replace_label(replaced, POLLED, "$1", "host", "(.*)")
            kept.append(POLLED)
            name = series.tag("objectname") or group.object
            if group.server:
                server_object = f"{SQL_NAMED.replace('$', '$$')}${{1}}:{name.partition(':')[2]}"
                replaced = _replace_label(replaced, OBJECT, server_object, group.server, "(.*)")
                replaced = _replace_label(replaced, OBJECT, name, group.server, DEFAULT_SERVER)
                kept.append(OBJECT)
            else:
                labels[OBJECT] = name
        for tag, template in group.templates.items():
            name = tag or "instance"
            if not template.labels:
                labels[name] = template.filled({})
                continue
            of = template.labels[0]
            if len(template.labels) > 1:
                arguments = replaced, quote_text(name), quote_text(";"), *map(quote_text, template.labels)
                replaced = f"label_join({', '.join(arguments)})"
                of = name
            replaced = _replace_label(replaced, name, template.replacement, of, template.pattern)
            kept.append(name)
        return {
            "record": make_plain_name(f"{series.measurement}_{series.field}"),
            "expr": f"max by ({', '.join(dict.fromkeys(kept))}) ({replaced})",
            **({"labels": labels} if labels else {}),
        }

    def _express_node(self, node: ast.expr, grown: str | None) -> str:
        """Return a node of a formula as PromQL; `grown` is the function and range for the growth of counts, if any."""
        match node:
            case ast.Constant(value=int() | float() as value):
                return number(value)
            case ast.Name(id=name):
                return self._express_metric(name, grown)
            case ast.BinOp(left=left, op=op, right=right):
                below = self._express_node(right, grown)
                if isinstance(op, ast.Div) and not isinstance(right, ast.Constant):
                    below = f"({below} != 0)"
                return f"({self._express_node(left, grown)} {_SIGNS[type(op)]} {below})"
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return self._express_function(function, arguments, grown)
            case _:
                raise ValueError(f"{ast.unparse(node)} is no formula")

    def _express_function(self, function: str, arguments: Sequence[ast.expr], grown: str | None) -> str:
        """Return a function call of a formula, such as `rate(x)`, as PromQL."""
        newest = f"irate[{format_duration(2 * self.interval + SECOND // 1000)}]"
        match function, arguments:
            case "time", []:
                return "time()"
            case "growth" | "rate", [x]:
                # Both are per second here, as growth is only divided by growth.
                return self._express_node(x, grown or newest)
            case "per", [x, y]:
                above, below = self._express_node(x, newest), self._express_node(y, newest)
                return f"(({above} / ({below} > 0)) or ({below} * 0))"
            case "zero", [x]:
                return f"({self._express_node(x, None)} == 0)"
            case "count", [ast.Name(id=name)]:
                named = [f'{label}!=""' for label in self.group.over]
                return " or ".join(f"count {self.by} ({selector})" for selector in self._list_selectors(name, named))
            case "average", [x, ast.Constant(value=int() as length)]:
                over = max(length * SECOND, 2 * self.interval + SECOND // 1000)
                return f"clamp_max({self._express_node(x, f'rate[{format_duration(over)}]')}, 100)"
            case _:
                raise ValueError(f"{function} is no function of formulas")

    def _express_metric(self, name: str, grown: str | None) -> str:
        terms: list[str] = []
        for selector in self._list_selectors(name):
            if grown is None:
                value = selector
            else:
                function, _, length = grown.partition("[")
                value = f"{function}({selector}[{length}) and idelta({selector}[{length}) >= 0"
            terms.append(f"sum {self.by} ({value})")
        return terms[0] if len(terms) == 1 else f"({' or '.join(terms)})"

    def _list_selectors(self, name: str, matchers: Sequence[str] = ()) -> list[str]:
        """Return the selectors of a metric, one for each name that the exporter may give it."""
        but = self.group.but.items()
        left_out = [
            *(f"{label}!~{quote_text('|'.join(map(_translate_pattern, patterns)))}" for label, patterns in but),
            *matchers,
        ]
        sources = self.group.sources[name]
        if all(PLAIN_NAME.fullmatch(source.name) for source in sources):
            named = [(source.name, [], source.labels) for source in sources]
        else:
            # One metric's names by Prometheus' translation strategies; a server uses one of these.
            names = group_pairs((source.labels, escape_regex(source.name)) for source in sources)
            named = [("", [f"__name__=~{quote_text('|'.join(spelled))}"], labels) for labels, spelled in names.items()]
        return [
            f"{metric}{{{', '.join((*match, *(f'{key}={quote_text(value)}' for key, value in labels), *left_out))}}}"
            for metric, match, labels in named
        ]


GENERATED = "Generated by `plimsoll prometheus export`"
_FROM = GENERATED + " from the pack {}; edit that and export again."


def export(
    packs: Sequence[Pack],
    signals: Mapping[str, Signal],
    site: SiteSettings | None = None,
    options: PrometheusOptions | None = None,
) -> RuleExport:
    """Return the files: `PACK.rules.yaml` with each pack's rules, and recording rules for the options' exporters."""
    site, options = site or SiteSettings(), options or PrometheusOptions()
    files: dict[str, str] = {}
    refused: list[Refusal] = []
    count = 0
    for pack in downgrade_superseded(packs, options.by_hand):
        exported = [alert for rule in pack.rules for alert in list_alerting_rules(rule, pack, signals, site, options)]
        refused += (alert for alert in exported if isinstance(alert, Refusal))
        if alerts := [alert for alert in exported if not isinstance(alert, Refusal)]:
            comment, name = _FROM.format(pack.pack), f"plimsoll {pack.pack}"
            files[f"{pack.pack}.rules.yaml"] = _group_file(comment, name, options.evaluation_interval, alerts)
            count += len(alerts)
    for exporter in options.names:
        comment = f"{GENERATED}: what {exporter} records, under the names that Telegraf gives."
        recorded = [*list_recording_rules(exporter, signals, options.interval)]
        name = f"plimsoll names of {exporter}"
        files[f"{exporter}.names.rules.yaml"] = _group_file(comment, name, options.interval, recorded)
    return RuleExport(files, count, tuple(refused))


def _group_file(comment: str, name: str, interval: int, rules: Sequence[Mapping[str, object]]) -> str:
    return write_yaml({"groups": [{"name": name, "interval": format_duration(interval), "rules": rules}]}, comment)


def list_recording_rules(exporter: str, signals: Mapping[str, Signal], interval: int) -> Iterator[dict[str, Any]]:
    """Yield the recording rules for the fields that signals read, from an exporter scraped every `interval` ns."""
    sources = [source for signal in signals.values() for source in signal.sources]
    read = {(source.path.object, source.path.counter) for source in sources if source.path}
    read |= {(source.measurement or "", field) for source in sources if not source.path for field in source.fields}
    for group in load_exporters()[exporter].groups:
        for field, formulas in group.formulas.items():
            if (group.measurement or group.object, field) in read:
                written = _Written(group, interval)
                expr = " or ".join(dict.fromkeys(map(written.formula, formulas)))
                for chosen, tags in written.choices(expr):
                    yield written.rule(field, chosen, tags)


def _replace_label(vector: str, label: str, replacement: str, of: str, pattern: str) -> str:
    return f"label_replace({', '.join((vector, *map(quote_text, (label, replacement, of, pattern))))})"


def _translate_pattern(shell: str) -> str:
    """Return a shell pattern (`*`, `?`) as a regular expression."""
    parts = re.split(r"(\*|\[[^\]]*\])", shell)
    return "".join(".*" if part == "*" else part if part.startswith("[") else escape_regex(part) for part in parts)
