"""The queries of a dashboard as Grafana sends them, with macros and variables replaced."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_ANY = ".*"
# (upper bound, rounded interval) in ms, from Grafana's source: intervals below each bound are rounded to the second.
_ROUNDED = (
    (10, 1), (15, 10), (35, 20), (75, 50), (150, 100), (350, 200), (750, 500), (1_500, 1_000), (3_500, 2_000),
    (7_500, 5_000), (12_500, 10_000), (17_500, 15_000), (25_000, 20_000), (45_000, 30_000), (90_000, 60_000),
    (210_000, 120_000), (450_000, 300_000), (750_000, 600_000), (1_050_000, 900_000), (1_500_000, 1_200_000),
    (2_700_000, 1_800_000), (5_400_000, 3_600_000), (9_000_000, 7_200_000), (16_200_000, 10_800_000),
    (32_400_000, 21_600_000), (86_400_000, 43_200_000), (604_800_000, 86_400_000), (1_814_400_000, 604_800_000),
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """One query of a dashboard: its location, its text, and how many points Grafana asks for.

    `variables` have the initial values of the dashboard, and a pattern that matches everything for "All".
    """

    where: str
    query: str
    points: int
    least_ms: int
    variables: Mapping[str, str]
    panel: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def requests(self, start_ms: int, end_ms: int, variables: Mapping[str, str] | None = None) -> str:
        """Return the query as it is sent for a range. `variables` override those of the dashboard."""
        interval = interval_ms(end_ms - start_ms, self.points, self.least_ms)
        return expanded(self.query, start_ms, end_ms, interval, {**self.variables, **(variables or {})})


def questions(data: Mapping[str, Any]) -> Iterator[Question]:
    """Yield every InfluxQL query of a dashboard: of its panels, variables and annotations."""
    begin = _values(data)
    for panel in panels(data):
        points = int(panel.get("maxDataPoints") or 1_000)
        milliseconds = _milliseconds(str(panel.get("interval") or "1ms"))
        for target in panel.get("targets") or ():
            if "query" in target:
                where = f"panel {panel.get('id')} ({panel.get('title')}), {target.get('refId')}"
                yield Question(where, target["query"], points, milliseconds, begin, panel, target)
    for variable in data.get("templating", {}).get("list", ()):
        if variable.get("type") == "query" and (variable.get("datasource") or {}).get("type") != "prometheus":
            yield Question(f"variable {variable.get('name')}", variable["query"], 1_000, 1, begin)
    for annotation in data.get("annotations", {}).get("list", ()):
        if "query" in annotation.get("target", {}):
            yield Question(f"annotation {annotation.get('name')}", annotation["target"]["query"], 1_000, 1, begin)


def panels(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield every panel and row, including panels in collapsed rows."""
    for panel in data.get("panels") or ():
        yield panel
        yield from panel.get("panels") or ()


def expanded(query: str, start_ms: int, end_ms: int, interval: int, variables: Mapping[str, str]) -> str:
    """Return a query with macros and variables replaced."""
    text = query.replace("$timeFilter", f"time >= {start_ms}ms and time <= {end_ms}ms")
    text = text.replace("$__interval", f"{interval}ms")
    text = text.replace("${__from}", str(start_ms)).replace("${__to}", str(end_ms))

    # A name must follow the $, as it may also be the end of a regular expression. Numbers are in braces.
    text = re.sub(r"\$\{([a-z]\w*)\}", lambda values: variables.get(values[1], _ANY).replace(_ANY, "0"), text)
    return re.sub(r"\$([a-z_]\w*)", lambda values: variables.get(values[1], _ANY), text)


def interval_ms(range_ms: int, points: int, least_ms: int) -> int:
    """Return the interval that Grafana chooses for a range, rounded as Grafana does it."""
    result = range_ms / points
    rounded = next((value for up_to, value in _ROUNDED if result < up_to), 2_592_000_000)
    return max(rounded, least_ms)


def _values(data: Mapping[str, Any]) -> Mapping[str, str]:
    result: dict[str, str] = {}
    for variable in data.get("templating", {}).get("list", ()):
        value = (variable.get("current") or {}).get("value")
        result[variable.get("name", "")] = value if variable.get("type") == "custom" and value else _ANY
    return result


def _milliseconds(text: str) -> int:
    match = re.fullmatch(r"(\d+)(ms|s|m|h)", text)
    if not match:
        return 1
    return int(match[1]) * {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}[match[2]]
