"""Thresholds that plimsoll.toml changes or switches off, each with a reason, in general, for hosts or for groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from math import isfinite
from typing import Annotated, Any

from plimsoll.model.errors import escape, suggest
from plimsoll.model.file_models import FieldBounds, FieldParser, entry, file_model
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import Parameter
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_duration, parse_duration
from plimsoll.model.value_text import format_percent
from plimsoll.rules.schema.field_types import Fact, Healthy, Limit, Share
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.schema.units import convert_limit, find_unit, format_healthy, is_named
from plimsoll.rules.wording import limit_text

_LONGEST = 366 * 86400 * SECOND
_FILE = "plimsoll.toml"


def _parse_length(value: object) -> object:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a duration; write it like 30s, 5m or 1h30m")
    if isinstance(value, int | float) and value:
        raise ValueError(f'{value:g} has no unit; write "{value:g}s" or "{value:g}m"')
    return parse_duration(value) if isinstance(value, str | int | float) else value


Length = Annotated[int, FieldBounds(ge=0, le=_LONGEST), FieldParser(_parse_length)]  # ns


@file_model
class RuleSettings:
    """A `[rules.ID]` or `[hosts.NAME.rules.ID]` table, which changes a rule or switches it off.

    `per` is the host fact that multiplies the limit.
    """

    reason: str
    off: bool | None = None
    healthy: Limit | None = None
    over: Length | None = None
    for_: Length | None = entry(default=None, alias="for")
    per: Fact | None = None
    often: Share | None = None

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("reason is empty; say why the documented threshold does not hold here")
        if self.healthy and not isfinite(self.healthy.limit):
            raise ValueError(f'healthy "{self.healthy}" is no limit')
        if self.off and self.changes:
            raise ValueError("off = true leaves nothing for the other settings to change")
        if self.off is None and not self.changes:
            raise ValueError("changes nothing: give healthy, over, for, per, often or off")

    @property
    def changes(self) -> bool:
        """Whether the table changes the rule, not only switches it off."""
        return any(value is not None for value in (self.healthy, self.over, self.for_, self.per, self.often))


@dataclass(frozen=True)
class Override:
    """A change of a rule on a host, with the documented rule, the reason, and the note that reports show."""

    documented: Rule
    reason: str
    note: str
    off: bool = False


@dataclass(frozen=True)
class GroupRules:
    """The rule settings of a group of hosts, in the table `place` of plimsoll.toml.

    The hosts are those whose name fits `pattern` and, if `label` (name and value) is set, that have this label.
    """

    place: str
    rules: Mapping[str, RuleSettings]
    pattern: str = "*"
    label: tuple[str, str] | None = None

    def has(self, host: str, labels: Mapping[str, str]) -> bool:
        """Return whether a host with these labels belongs to the group, ignoring case."""
        if self.label and make_host_key(labels.get(self.label[0], "")) != make_host_key(self.label[1]):
            return False
        return fnmatchcase(make_host_key(host), make_host_key(self.pattern).replace("[", "[[]"))


@dataclass(frozen=True)
class Overrides:
    """All rule settings in plimsoll.toml, by rule id; host names are case-folded.

    For a host, the first table with the rule counts: the host's own table, the `groups` in their order, the general
    table. `labels` has the labels of each host.
    """

    general: Mapping[str, RuleSettings] = field(default_factory=dict[str, RuleSettings])
    by_host: Mapping[str, Mapping[str, RuleSettings]] = field(default_factory=dict[str, Mapping[str, RuleSettings]])
    signals: Mapping[str, Signal] = field(default_factory=dict[str, Signal])
    groups: Sequence[GroupRules] = ()
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def of(self, rule: Rule, host: str) -> tuple[Rule, Override | None]:
        """Return a rule as it applies to a host, and the override; None as the override if the rule is unchanged."""
        settings, file = self._find_settings(rule.id, host)
        if settings is None:
            return rule, None
        reason = " ".join(settings.reason.split())
        if settings.off:
            return rule, Override(rule, reason, f"switched off in {file}: {reason}", off=True)
        if not settings.changes:
            return rule, Override(rule, reason, f"kept as documented in {file}: {reason}")
        unit = find_unit(rule, self.signals)
        changed = _apply_settings(rule, settings, unit)
        return changed, Override(rule, reason, f"{_describe_difference(rule, changed, unit, file)}: {reason}")

    def _find_settings(self, rule: str, host: str) -> tuple[RuleSettings | None, str]:
        """Return the settings of a rule that apply to a host, and where they are written; None if there are none."""
        if of_host := self.by_host.get(make_host_key(host), {}).get(rule):
            return of_host, _FILE
        labels = self.labels.get(make_host_key(host), {}) if self.groups else {}
        for group in self.groups:
            if host and rule in group.rules and group.has(host, labels):
                return group.rules[rule], f"{_FILE} ({group.place})"
        return self.general.get(rule), _FILE


def list_mistakes(
    place: str, table: Mapping[str, RuleSettings], rules: Mapping[str, Rule], signals: Mapping[str, Signal]
) -> Iterator[str]:
    """Yield a message for each setting of a table that does not fit its rule. `place` is the path of the table."""
    for name, settings in table.items():
        rule = rules.get(name)
        if rule is None:
            near = (
                suggest(name, list(rules))
                or f"; `plimsoll rules list` names them, and {Parameter.PACK} loads one of your own"
            )
            yield f"{place}.{name}: no rule has this id{near}"
        elif settings.healthy and settings.healthy.worse != rule.healthy.worse:
            yield (
                f'{place}.{name}.healthy: "{settings.healthy}" lies on the other side of the limit than '
                f'the documented "{rule.healthy}"'
            )
        elif settings.per and rule.scale:
            yield f"{place}.{name}.per: the documented limit is multiplied by the host's {rule.scale} already"
        elif settings.healthy:
            unit = find_unit(rule, signals)
            try:
                limit = convert_limit(settings.healthy, unit)
            except ValueError as error:
                yield f"{place}.{name}.healthy: {_suggest_unit(settings.healthy, rule, unit) or error}"
                continue
            signal = signals[rule.signal]
            if not (settings.per or rule.scale) and (reason := _explain_never_crossed(limit, signal)):
                yield (
                    f'{place}.{name}.healthy: "{settings.healthy}" can never be crossed: {signal.title} '
                    f"{reason}; to switch the rule off, write off = true"
                )


def _suggest_unit(limit: Healthy, rule: Rule, unit: str) -> str | None:
    """Return a message that suggests the documented unit, if a limit lacks its unit; else None."""
    if limit.unit is not None or limit.limit == 0 or not is_named(unit):
        return None
    documented = format_healthy(rule.healthy, unit)
    return f'"{limit}" does not name its unit; write "{limit} {documented.split()[-1]}" (documented: "{documented}")'


def _explain_never_crossed(limit: Healthy, signal: Signal) -> str:
    """Return why no value of the signal can cross a limit; empty if some value can."""
    highest, is_inclusive = signal.highest, limit.operator in ("<=", ">=")
    if limit.worse == "higher" and highest is not None:
        is_beyond = limit.limit > highest or (is_inclusive and limit.limit == highest)
        return f"is at most {highest:g} {signal.unit}" if is_beyond else ""
    is_below = limit.worse == "lower" and (limit.limit < 0 or (is_inclusive and limit.limit == 0))
    return "is never below 0" if is_below and not signal.negative else ""


def _apply_settings(rule: Rule, settings: RuleSettings, unit: str) -> Rule:
    """Return the rule with the settings applied. A new limit removes the documented `recover` and `where`."""
    update: dict[str, Any] = {}
    if settings.healthy or settings.per:
        healthy = convert_limit(settings.healthy, unit) if settings.healthy else rule.healthy
        update |= {"healthy": healthy, "recover": None, "scale": settings.per or rule.scale}
        update |= {"where": {}, "where_unknown": None, "where_outside": "skip"}
        if (healthy, update["scale"]) != (rule.healthy, rule.scale):  # the summary describes the documented limit
            update["summary"] = (
                f"This limit is set in {_FILE}: {escape(' '.join(settings.reason.split())).rstrip('.')}."
            )
    changes = {name: getattr(settings, name) for name in ("over", "for_", "often")}
    return replace(rule, **update, **{name: value for name, value in changes.items() if value is not None})


def _describe_difference(documented: Rule, changed: Rule, unit: str, file: str) -> str:
    """Return a changed rule's settings as text, the documented settings, and the file that has the change.

    An example is `limit < 90 %, for 10 min set in plimsoll.toml instead of the documented < 80 %, for 5 min`.
    """
    now, before = [], []
    if (changed.healthy, changed.scale) != (documented.healthy, documented.scale):
        now.append(f"limit {limit_text(changed.healthy, unit, changed.scale)}")
        before.append(limit_text(documented.healthy, unit, documented.scale))
    for word, new, old in (("over", changed.over, documented.over), ("for", changed.for_, documented.for_)):
        if new != old:
            now.append(f"{word} {format_duration(new) if new else '0 s'}")
            before.append(f"{word} {format_duration(old) if old else '0 s'}")
    if changed.often != documented.often:
        now.append(f"often from {format_percent(changed.often)} of the time and not {format_percent(documented.often)}")
    if not now:
        return f"set in {file} as documented"
    if not before:
        return f"{', '.join(now)} set in {file}"
    return f"{', '.join(now)} set in {file} instead of the documented {', '.join(before)}"
