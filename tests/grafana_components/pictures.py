"""Makes the pictures of dashboards in docs/: `python -m tests.grafana_components.pictures`."""

import json
import tempfile
from pathlib import Path

from tests.grafana_components import packages
from tests.grafana_components.drawing import chromium, drawing
from tests.grafana_components.filled import kept
from tests.grafana_components.site import serving

_ROOT = Path(__file__).parents[2]
_TWO_RUNS = {"run": ["windows-today/trouble"], "baseline": ["windows-today/healthy"], "host": ["APPSRV01"]}
_PICTURES = (
    ("health", "windows-today/trouble", {}, 1_040),
    ("sql-server", "sql-server-today/trouble", {"host": ["SQL01"]}, 1_060),
    ("runs", "windows-today/trouble", _TWO_RUNS, 1_060),
)


def main() -> None:
    """Draw the first screen of three dashboards."""
    packages.install()
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch, "page")
        packages.bundle(built)
        with (
            kept(Path(scratch, "influxdb")) as filled,
            serving(built, filled.bucket) as address,
            chromium() as browser,
            drawing(browser, address) as page,
        ):
            for name, span, given, height in _PICTURES:
                data = json.loads((_ROOT / "dashboards/grafana" / f"{name}.json").read_text("utf-8"))
                page.draw(data, *filled.ranges[span], given=given)
                target = _ROOT / "docs" / f"dashboard-{name}.png"
                page.picture(target, height)
                print(target)


if __name__ == "__main__":
    main()
