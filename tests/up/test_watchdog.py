"""The watchdog of the alert loop, by a simulated clock."""

from plimsoll.up.watchdog import Watchdog


def test_a_loop_that_hangs_is_told_of_once_and_again_after_it_went_on():
    last: list[int | None] = [None]
    entries = []
    watchdog = Watchdog(lambda: last[0], lambda title, body: entries.append(title))
    for now in range(0, 60, 5):
        watchdog.look(now)
    assert entries == []
    for now in range(60, 600, 5):
        watchdog.look(now)
    assert entries == ["Nothing is judged"]
    for now in range(600, 1200, 5):
        last[0] = now // 50
        watchdog.look(now)
    assert len(entries) == 1
    for now in range(1200, 1300, 5):
        watchdog.look(now)
    assert len(entries) == 2
