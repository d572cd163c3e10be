"""What is known of the counters that rules need, for telling strange names, is what they need."""

from plimsoll.model.counter_names.name_clues import known_counters, needed_counters
from plimsoll.rules.load import load_packs, load_signals


def needed():
    """The counters that the rules of the packs need, by object."""
    signals, found = load_signals(), {}

    def add(name):
        for source in signals[name].sources:
            if source.path is not None:
                found.setdefault(source.path.object, set()).add(source.path.counter)
        if derived := signals[name].derived:
            for operand in derived.operands:
                add(operand)

    for pack in load_packs():
        for rule in pack.rules:
            for name in (rule.signal, *(one.signal for one in (*rule.and_, *rule.when_phase_unknown))):
                add(name)
    return found


def test_what_is_known_to_be_judged_is_what_the_rules_need():
    assert {name: needed_counters(name) for name in needed()} == needed()


def test_what_signals_are_known_to_read_is_what_they_read():
    read = {}
    for signal in load_signals().values():
        for source in signal.sources:
            if source.path is not None:
                read.setdefault(source.path.object, set()).add(source.path.counter)
    assert {name: known_counters(name) for name in read} == read
