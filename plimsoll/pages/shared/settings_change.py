"""Changes a file of settings as a form says, and has it read anew."""

from collections.abc import Callable
from threading import Lock

from plimsoll.alerting.actions import Actor
from plimsoll.hosts import overlay
from plimsoll.model.errors import Unusable
from plimsoll.pages.shared.forms import record_action
from plimsoll.up.watched import Watched

_one_at_a_time = Lock()


def change_settings(
    watched: Watched, actor: Actor, change_file: Callable[[], str], file_name: str = overlay.FILE_NAME
) -> str:
    """Change a file of the data folder and reload the settings. Return why this was refused; empty if it was not.

    `change_file` returns the action for the audit log. If the settings are refused, the file is restored.
    """
    with _one_at_a_time:
        try:
            before = overlay.text(watched.folder, file_name)
            action = change_file()
            reloaded = watched.reload()
            if reloaded.refused:
                overlay.save(watched.folder, before, file_name)
                return f"nothing was changed: {reloaded.refused}"
        except Unusable as error:
            return str(error)
        except OSError as error:
            return f"{file_name} cannot be written: {error.strerror or error}"
    record_action(watched, actor, action)
    return ""
