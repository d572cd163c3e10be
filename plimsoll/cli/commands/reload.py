"""`plimsoll reload`."""

import json

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.api import data_folder
from plimsoll.cli import args
from plimsoll.cli.console import print_line
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import check_connections, find_last_cause
from plimsoll.serve.credentials import load_owner_token
from plimsoll.up import running
from plimsoll.up.reloading import PATH

_ANSWER_S = 60.0
app = args.make_command_app()


@app.command("reload", epilog=args.format_examples("plimsoll reload"))
def reload(store: args.FolderOption = None) -> None:
    """Make a running plimsoll up read up.toml and plimsoll.toml again.

    If a file is invalid, the previous settings stay in use, and the exit status is 2.
    """
    folder = store or data_folder.find_default_folder()
    server = running.find(folder)
    if server is None:
        raise Unreachable(f"{folder}: plimsoll up does not run on it; it reads its settings when it starts")
    pools = urllib3.PoolManager(timeout=_ANSWER_S, retries=False)
    check_connections(pools, server.check_listens)
    try:
        answer = pools.request(
            "POST", f"{server.address}{PATH}", headers={"Authorization": f"Token {load_owner_token(folder)}"}
        )
        reloaded = json.loads(answer.data)
        text, refused = str(reloaded["text"]), bool(reloaded["refused"])
    except (HTTPError, OSError) as error:
        raise Unreachable(f"{server.address}: does not answer ({find_last_cause(error)})") from None
    except (ValueError, KeyError, TypeError):
        raise Unreachable(f"{server.address}: does not answer as this version does; start plimsoll up again") from None
    if refused:
        raise Unusable(*text.splitlines())
    print_line(text)
