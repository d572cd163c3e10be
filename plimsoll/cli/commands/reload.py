"""`plimsoll reload`."""

import json
from pathlib import Path

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.api import data_folder
from plimsoll.cli.console import print_line
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.http_connections import check_connections, last_cause
from plimsoll.serve.credentials import owner_token
from plimsoll.up import running
from plimsoll.up.reloading import PATH

_ANSWER_S = 60.0


def run(data: Path | None) -> None:
    """Have the `plimsoll up` on a data folder read its settings anew.

    Unusable, with the reason, if it refuses them; Unreachable if none runs there.
    """
    folder = data or data_folder.default_folder()
    known = running.find(folder)
    if known is None:
        raise Unreachable(f"{folder}: plimsoll up does not run on it; it reads its settings when it starts")
    pools = urllib3.PoolManager(timeout=_ANSWER_S, retries=False)
    check_connections(pools, known.check_listens)
    try:
        answer = pools.request(
            "POST", f"{known.address}{PATH}", headers={"Authorization": f"Token {owner_token(folder)}"}
        )
        found = json.loads(answer.data)
        text, refused = str(found["text"]), bool(found["refused"])
    except (HTTPError, OSError) as error:
        raise Unreachable(f"{known.address}: does not answer ({last_cause(error)})") from None
    except (ValueError, KeyError, TypeError):
        raise Unreachable(f"{known.address}: does not answer as this version does; start plimsoll up again") from None
    if refused:
        raise Unusable(*text.splitlines())
    print_line(text)
