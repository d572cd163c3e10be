"""Changes a settings file as a form asks, and reloads the settings."""

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
    """Change a file of the data folder and reload the settings. Return why the change was refused; else an empty text.

    `change_file` changes the file, and returns the text for the audit log. If the settings are refused, the file is
    restored.
    """
    with _one_at_a_time:
        try:
            old_text = overlay.read_overlay(watched.folder, file_name)
            action = change_file()
            reload = watched.reload()
            if reload.refused:
                overlay.save(watched.folder, old_text, file_name)
                return f"nothing was changed: {reload.refused}"
        except Unusable as error:
            return str(error)
        except OSError as error:
            return f"{file_name} cannot be written: {error.strerror or error}"
    record_action(watched, actor, action)
    return ""
