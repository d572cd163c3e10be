"""Fixtures for tests of alert rules: a real InfluxDB, written to like Telegraf does and queried like Grafana does."""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

_MOST_BYTES = 4 << 20
# So many digits at the end of a line in ns, and the end of the line, are a part of a day, here 10,000 s.
_OF_A_DAY = 14
# What Go's parser of forms does not take as it is.
_IN_FORM = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "%&+;"})


class Table(NamedTuple):
    """One series of an answer."""

    tags: dict[str, str]
    columns: list[str]
    rows: list[list[Any]]


@dataclass
class Influx:
    """One bucket of an InfluxDB."""

    url: str
    org: str
    bucket: str
    token: str

    def write(self, lines):
        """Write line protocol, times in ns.

        InfluxDB 2.7 can lose a write into a shard that it frees as idle in the same moment. One that has something
        unwritten is not idle: one line of each day goes before the others.
        """
        if not (lines := list(lines)):
            return
        self._write({line[line.rindex(" ") :][:-_OF_A_DAY]: line for line in lines}.values())
        size, result = 0, []
        for line in lines:
            result.append(line)
            size += len(line)
            if size > _MOST_BYTES:
                self._write(result)
                size, result = 0, []
        if result:
            self._write(result)

    def _write(self, lines):
        self._post(f"/api/v2/write?{urlencode({'org': self.org, 'bucket': self.bucket})}", "".join(lines))

    def ask(self, statements):
        """Answer InfluxQL statements, each with its series."""
        if not statements:
            return []
        body = "q=" + ";\n".join(statements).translate(_IN_FORM)  # urlencode would take more time than the answer
        answer = json.loads(self._post(f"/query?{urlencode({'db': self.bucket, 'epoch': 'ns'})}", body))
        rows = [[] for _ in statements]
        for result in answer["results"]:
            assert "error" not in result, f"{result['error']}: {statements[result['statement_id']]}"
            for series in result.get("series", ()):
                table = Table(series.get("tags", {}), series["columns"], series["values"])
                rows[result["statement_id"]].append(table)
        return rows

    def _post(self, path, body):
        headers = {"Authorization": f"Token {self.token}"}
        if path.startswith("/query"):
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        with urlopen(Request(self.url + path, data=body.encode(), headers=headers), timeout=300) as response:
            return response.read()


@pytest.fixture(scope="session")
def influx(influxdb):
    """The InfluxDB of the session."""
    return Influx(influxdb.url, influxdb.org, influxdb.bucket, influxdb.token)


def escaped(text):
    return re.sub(r"([,= ])", r"\\\1", text)
