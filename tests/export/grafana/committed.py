"""The dashboards as they are committed, which test_grafana_json.py compares with what is written today.

Writing them takes a second, and every process that collects tests would do so for each module that names them.
"""

import json
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "dashboards" / "grafana"
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.json"))}


@cache
def dashboards():
    """The dashboards by their uid."""
    return {data["uid"]: data for data in map(json.loads, TEXTS.values())}
