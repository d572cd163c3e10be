"""The dates and times of day that sysstat's programs write in their locales."""

import re
from datetime import date, datetime, time

from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind, Remarks

_DATES = ("%Y-%m-%d", "%m/%d/%y", "%m/%d/%Y", "%d/%m/%y", "%d/%m/%Y", "%d.%m.%Y", "%d.%m.%y", "%Y年%m月%d日")


def parse_day(text: Text, written: str, line: int, remarks: Remarks, before: date | None = None) -> date:
    """Return the date written in a line.

    An ambiguous date is read as the day `before`, or as the day in a file name such as sar27; if neither fits, the
    month comes first, as in the C locale, with a remark. Raise Unusable if the form is not known.
    """
    days = list(dict.fromkeys(moment.date() for form in _DATES if (moment := parse_moment(written, form))))
    if not days:
        raise Unusable(
            f'{text.path}:{line}: the date "{written}" is of no form that is known; record again, or print the file '
            "again, with S_TIME_FORMAT=ISO before the command"
        )
    of_file = re.search(r"sar?(?:\d{6})?(\d\d)\b", text.path.name)
    fitting = [day for day in days if day == before or (of_file and day.day == int(of_file[1]))]
    if len(days) > 1 and not fitting:
        guess = f"the date {written} is taken for {days[0]}; if it is another, write the file with S_TIME_FORMAT=ISO"
        remarks.add(Kind.GUESSED, guess, line=line)
    return (fitting or days)[0]


def make_time(hour: str, minute: str, second: str, half: str | None = None) -> time:
    """Return a time of day; `half` is AM, PM or None."""
    hours = int(hour) if half is None else int(hour) % 12 + 12 * (half == "PM")
    return time(hours, int(minute), int(second))


def parse_moment(text: str, form: str) -> datetime | None:
    """Return the date and time in a text that has the `strptime` format `form`; None if the text does not have it."""
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None
