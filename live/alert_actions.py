"""What people do to alerts."""

from live.alert_history import alert
from live.alert_record import Alert
from live.alert_rows import record
from live.alerts_file import AlertsFile
from model.errors import Unusable


def acknowledge(file: AlertsFile, number: int, who: str, note: str, now: int) -> Alert:
    """Stop the repetition of an alert until it ends. Unusable if it is not firing."""
    found = alert(file, number)
    if found is None:
        raise Unusable(f"there is no alert {number}; plimsoll alerts list shows those that are firing")
    if not found.firing:
        raise Unusable(f"alert {number} has ended: it is not repeated any more")
    with file.transaction() as connection:
        connection.execute(
            "UPDATE alerts SET acked_at = ?, acked_by = ?, ack_note = ? WHERE id = ?", (now, who, note, number)
        )
        record(connection, number, now, now, "acknowledged", note=f"{who}: {note}" if note else who)
    return found
