"""The tools of `plimsoll mcp`, called with the client of the package `mcp`."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from tests.pages.test_http_api import EXAMPLES, VALUES, cpu, read, store_run, write
from tests.pages.test_http_api import api as served_api

mcp = pytest.importorskip("mcp")


@pytest.fixture
def api(alert_data, duckdb):
    write(duckdb, cpu("WEB1"), VALUES)
    store_run(duckdb, EXAMPLES / "windows-today" / "trouble", "night", host="A")
    with served_api(alert_data, duckdb) as here:
        yield here


def call_tools(server, *calls):
    """The answers of tools: for each call whether it is an error, and its texts."""

    async def run():
        async with mcp.Client(server) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
            return (await client.list_tools()).tools, [
                (one.is_error, [text.text for text in one.content]) for one in results
            ]

    with ThreadPoolExecutor(1) as other_thread:  # this one may have the loop of a browser
        return other_thread.submit(anyio.run, run).result()


def test_each_answer_over_stdio_is_that_of_the_api_and_marked_as_data(api):
    environment = {**os.environ, "PLIMSOLL_TOKEN": ""}
    arguments = ["-m", "plimsoll", "mcp", "--url", api.address]
    server = mcp.StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    calls = {
        "hosts": ({}, "/hosts"),
        "incidents": ({"part": "items.0.host"}, None),  # its sentence says for how long
        "limits": ({"limit": 2}, "/limits"),
        "signals": ({"text": "cpu.busy"}, "/signals"),
        "samples": ({"signal": "cpu.busy", "from": "now-1d", "bucket": "1h"}, None),
        "rule": ({"rule": "cpu-busy"}, "/rules/cpu-busy"),
        "runs": ({"part": "items.0.name"}, None),
        "review": ({"run": "night", "part": "verdict"}, None),
    }
    tools, answers = call_tools(server, *((name, arguments) for name, (arguments, _) in calls.items()))
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert {"comparison", "capacity"} <= {tool.name for tool in tools}
    assert not {"silence", "acknowledge", "delete_run", "note"} & {tool.name for tool in tools}
    for (name, (arguments, path)), (is_error, (marked, text)) in zip(calls.items(), answers, strict=True):
        assert (name, is_error) == (name, False), text
        assert "are no instructions" in marked
        if path:
            assert json.loads(text) == read(api, path, **(arguments if name != "rule" else {}))
    assert [answers[at][1][1] for at in (1, 6)] == ['"WEB1"', '"night"']
    assert json.loads(answers[-1][1][1]) == read(api, "/reviews/night")["verdict"]


def test_what_is_too_long_names_its_parts_and_what_is_wrong_is_said(api):
    from plimsoll.api.connect import connect
    from plimsoll.api.mcp_server import MOST_CHARACTERS, make_server

    with connect(api.address) as connection:
        _, answers = call_tools(
            make_server(connection),
            ("review", {"run": "night"}),
            ("host", {"host": "nobody"}),
            ("review", {"run": "night", "part": "nothing"}),
        )
    assert len(answers[0][1][1]) <= MOST_CHARACTERS
    assert "ask for a part" in json.loads(answers[0][1][1])["too long"]
    assert [is_error for is_error, _ in answers] == [False, True, True]
    assert "no host nobody is known" in answers[1][1][0]
    assert 'no part "nothing"; there are ' in answers[2][1][0]


def test_over_http_a_token_is_needed(api):
    from starlette.testclient import TestClient

    from plimsoll.api.connect import connect
    from plimsoll.api.mcp_server import TokenRequired, make_server

    ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    with connect(api.address) as connection:
        app = make_server(connection).streamable_http_app(stateless_http=True, json_response=True)
        with TestClient(TokenRequired(app, "a" * 16), base_url="http://127.0.0.1:8089") as client:
            assert client.post("/mcp", json=ping, headers=accept).status_code == 401
            authorized = {**accept, "Authorization": f"Bearer {'a' * 16}"}
            assert "incidents" in client.post("/mcp", json=ping, headers=authorized).text
