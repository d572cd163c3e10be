"""up.toml: whom `plimsoll up` notifies and when, which hosts it expects, what it checks, how long it keeps samples.

It lies in the data folder and holds secrets: addresses with passwords and tokens. Only its owner may be able to write
it. docs/alerts.md is the reference.
"""

import os
import stat
import sys
from pathlib import Path
from typing import Any

from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.hosts.toml_file import decoded, parsed
from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.native.private import check_private
from plimsoll.notify.settings.people import ProxySettings
from plimsoll.notify.settings.scraping import ScrapeSettings
from plimsoll.notify.settings.sections import (
    HeartbeatSettings,
    LimitsSettings,
    QuietSettings,
    QuietWindow,
    RosterSettings,
    StoreSettings,
    TargetSettings,
)
from plimsoll.notify.settings.settings import UpSettings
from plimsoll.rules.schema.strict_yaml import suggest

FILE_NAME = "up.toml"


def load(folder: Path) -> UpSettings:
    """The settings of a data folder; the defaults if it has no up.toml.

    Unusable, naming the file and the setting, if it is invalid, or if others than its owner may have written it.
    """
    path = folder / FILE_NAME
    if not os.path.lexists(path):
        return UpSettings()
    _check_owner(path)
    found = parse(user_files.read(path), path)
    if found.addresses or (found.proxy and found.proxy.secret.get_secret_value()):
        _check_unreadable(path)
    return found


def parse(data: bytes, path: Path) -> UpSettings:
    """Parse the content of `path`. Unusable, naming the setting and never an address, if it is invalid."""
    return parsed(decoded(data, path), path, UpSettings, _unusual)


def _check_owner(path: Path) -> None:
    check_private(path.parent, option=Parameter.STORE)
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise Unusable(f"{path}: is not a regular file; put the file itself there")
    if sys.platform == "win32":
        return  # the user's application data are the user's alone
    if found.st_uid not in (os.geteuid(), 0):
        raise Unusable(f"{path}: belongs to another user, who could have addresses of theirs notified; chown it")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unusable(f"{path}: others may write it, and have addresses of theirs notified: chmod 600 {path}")


def _check_unreadable(path: Path) -> None:
    """Unusable if others can read addresses, which hold passwords; the group may where the file is root's."""
    if sys.platform == "win32":
        return
    found = path.lstat()
    closed = stat.S_IROTH | (stat.S_IRGRP if found.st_uid == os.geteuid() else 0)
    if found.st_mode & closed:
        raise Unusable(f"{path}: others may read it, and it has passwords or tokens: chmod 600 {path}")


def _unusual(detail: Any) -> str | None:
    if detail["type"] == "extra_forbidden":
        return f": unknown setting{suggest(str(detail['loc'][-1]), _names())}"
    return " is missing" if detail["type"] == "missing" else None


def _names() -> list[str]:
    models = (UpSettings, TargetSettings, QuietSettings, QuietWindow, RosterSettings, HeartbeatSettings, StoreSettings)
    models = (*models, LimitsSettings, ScrapeSettings, CheckSettings, ProxySettings)
    return [field.alias or name for model in models for name, field in model.model_fields.items()]
