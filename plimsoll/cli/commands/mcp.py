"""`plimsoll mcp`."""

import os

import typer

from plimsoll.api import data_folder
from plimsoll.api.connect import connect
from plimsoll.cli import args
from plimsoll.cli.console import print_notice
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.serve.listen import Listen
from plimsoll.up import running

_READ_TOKEN, _OWN_TOKEN = "PLIMSOLL_TOKEN", "PLIMSOLL_MCP_TOKEN"
_SHORTEST = 16
app = args.make_command_app()


@app.command("mcp", epilog=args.format_examples("plimsoll mcp", "plimsoll mcp --http 127.0.0.1:8089"))
def mcp(
    url: str | None = typer.Option(
        None,
        "--url",
        help="The address of plimsoll up; by default that of the data folder.",
        callback=args.refuse_empty,
    ),
    http: str | None = typer.Option(
        None, "--http", help="Serve over HTTP at this address; by default over stdio.", callback=args.refuse_empty
    ),
    store: args.FolderOption = None,
) -> None:
    """Let an assistant read hosts, incidents, reviews and rules over the Model Context Protocol.

    PLIMSOLL_TOKEN is the token of plimsoll up, if plimsoll up needs a token; PLIMSOLL_MCP_TOKEN is the token that
    clients send with --http.
    """
    try:
        import anyio

        from plimsoll.api import mcp_server
    except ImportError:
        raise Unusable('the package "mcp" is not installed: pip install "plimsoll[mcp]"') from None
    folder = store or data_folder.find_default_folder()
    server = running.find(folder)
    if url is None and server is None:
        raise Unreachable(f"{folder}: plimsoll up does not run on it; start it, or name another with --url")
    token = os.environ.get(_OWN_TOKEN, "")
    if http and len(token) < _SHORTEST:
        raise Unusable(f"--http needs a token of {_SHORTEST} characters or more in {_OWN_TOKEN}, which clients send")
    with connect(url or (server.address if server else ""), os.environ.get(_READ_TOKEN)) as connection:
        server = mcp_server.make_server(connection)
        if http:
            listen = Listen.parse(http)
            print_notice(f"MCP at http://{http}/mcp")
            mcp_server.serve_http(server, listen.host, listen.port, token)
        else:
            anyio.run(mcp_server.serve_stdio, server)
