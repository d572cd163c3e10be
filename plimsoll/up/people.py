"""Where people log in but with a password of `plimsoll users`, by up.toml."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND
from plimsoll.notify.settings.file import FILE_NAME
from plimsoll.notify.settings.people import OidcSettings, RoleName
from plimsoll.notify.settings.settings import UpSettings
from plimsoll.serve.guard.access import LOGGED_IN
from plimsoll.serve.listen import PublicAddress
from plimsoll.serve.oidc.login import OidcLogin
from plimsoll.serve.oidc.settings import Settings
from plimsoll.serve.people import Role, RolesOf
from plimsoll.serve.proxy import TrustedProxy
from plimsoll.serve.secret_files import check_closed

SECRET = "PLIMSOLL_OIDC_SECRET"


def trusted_proxy(settings: UpSettings) -> TrustedProxy | None:
    """The proxy that says who asks; None if there is none."""
    found = settings.proxy
    if found is None:
        return None
    roles = _roles(found.roles, found.role)
    secret = found.secret.get_secret_value()
    return TrustedProxy(found.addresses, found.user, secret, roles, found.groups, found.separator)


def oidc_login(
    settings: UpSettings, folder: Path, url: PublicAddress | None, environment: Mapping[str, str] = os.environ
) -> OidcLogin | None:
    """What logs people in at an OpenID provider; None if there is none. Unusable if it cannot."""
    found = settings.oidc
    if found is None:
        return None
    if url is None:
        raise Unusable(
            f"{folder / FILE_NAME}: oidc: the provider sends people back to a public address, which plimsoll up needs "
            "to be started with; docs/security.md explains it"
        )
    made = Settings(
        found.issuer,
        found.client,
        _secret(found, environment),
        f"{url}{LOGGED_IN}",
        found.user,
        found.claim,
        _roles(found.roles, found.role),
        found.scopes,
        found.ca,
    )
    if found.ca and not Path(found.ca).is_file():
        raise Unusable(f"{folder / FILE_NAME}: oidc.ca: there is no file {found.ca}")
    length_s, secure = found.session / SECOND, url.scheme == "https"
    return OidcLogin.made(made, folder, made_with=found.model_dump_json(), length_s=length_s, secure=secure)


def _roles(values: Mapping[RoleName, Sequence[str]], usual: RoleName | None) -> RolesOf:
    return RolesOf({Role(role): some for role, some in values.items()}, Role(usual) if usual else None)


def _secret(found: OidcSettings, environment: Mapping[str, str]) -> str:
    if found.secret_file is None:
        return environment.get(SECRET, "").strip()
    path = Path(found.secret_file)
    check_closed(path)
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None
