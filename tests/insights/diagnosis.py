"""Holds the diagnosis of a review (`limit` of its JSON) against its findings."""

from plimsoll.rules.load import load_signals

SIGNALS = load_signals()
WITHIN = ("Room was left", "Little waited", "Nearest to a limit")
CROSSED = ("crossed", "often-crossed")
ALL_WELL = ("The load was too small", "Nothing that was recorded limits this run")
ALL_HAD_ROOM = "every resource recorded had room"
MOST = 0.5
HOST_OF_GUESTS = "hyper_v.host_busy"  # may have room while a guest has none
SOFTWARE = ("sql", "ldap", "ad", "iis", "exchange", "netlogon", "dotnet")
RESOURCES = ("cpu", "disk", "memory", "network")


def contradictions(document):
    """Sentences that contradict a finding, or show trouble by a figure that keeps its limit."""
    limit = document["limit"]
    if limit is None:
        return []
    severe = [item for item in document["rules"] if item["severity"] != "info"]
    crossed = [item for item in severe if item["state"] in CROSSED]
    entries = []
    for sentence in limit["sentences"]:
        text, room = sentence["text"], sentence["text"].startswith(WITHIN)
        if crossed and any(words in text for words in ALL_WELL):
            entries.append(f"{text} But {crossed[0]['rule']} was crossed.")
        busy = [item for item in crossed if item["signal"].partition(".")[0] in RESOURCES]
        if busy and ALL_HAD_ROOM in text:
            entries.append(f"{text} But {busy[0]['rule']} was crossed.")
        inside = [item for item in crossed if item["signal"].partition(".")[0] in SOFTWARE]
        if inside and text.startswith("Little waited inside the software"):
            entries.append(f"{text} But {inside[0]['rule']} was crossed.")
        long = [item for item in busy if item["severity"] == "critical" and (item["share_of_time"] or 0) > MOST]
        if long and "the software limits" in text and "no resource" in text:
            entries.append(f"{text} But {long[0]['rule']} was crossed most of the time.")
        for figure in sentence["figures"]:
            if _distance(figure) * (1 if room else -1) > 0:
                entries.append(f"{text} But {figure['signal']} {'is past' if room else 'keeps'} its limit.")
            if text.startswith("Room") and (rule := _of_resource(figure, crossed)):
                entries.append(f"{text} But {rule} was crossed.")
            if not room and _distance(figure) > 0 and (rule := _held_throughout(figure, severe)):
                entries.append(f"{text} But {rule} held throughout.")
    return entries


def _distance(figure):
    """How far a figure is past its limit; below 0 if it keeps it."""
    if figure["limit"] is None:
        return 0.0
    signal = SIGNALS.get(figure["signal"])
    lower = signal is not None and signal.worse == "lower"
    return (figure["limit"] - figure["value"]) * (1 if lower else -1)


def _of_resource(figure, crossed):
    if figure["signal"] == HOST_OF_GUESTS:
        return next((item["rule"] for item in crossed if item["signal"] == HOST_OF_GUESTS), None)
    resource = figure["signal"].partition(".")[0]
    return next((item["rule"] for item in crossed if item["host"] == figure["host"] and _is_of(item, resource)), None)


def _is_of(rule, resource):
    return rule["signal"].partition(".")[0] == resource


def _held_throughout(figure, severe):
    """A rule with the limit, where no rule with it was ever crossed for this host, or this instance of it."""
    alike = [
        item
        for item in severe
        if (item["signal"], item["host"], item["instance"]) == (figure["signal"], figure["host"], figure["instance"])
        and item["threshold"]["limit"] == figure["limit"]
        and item["state"] in (*CROSSED, "held")
        and not item["superseded_by"]
    ]
    return None if any(item["crossed_s"] for item in alike) else next((item["rule"] for item in alike), None)
