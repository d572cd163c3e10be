"""A target that another `plimsoll up` notifies, as it reads the same store."""

from plimsoll.model.times import SECOND
from plimsoll.notify.targets import LEFT_AFTER
from tests.alerting.world import Phone


class Second(Phone):
    """The phone of a second plimsoll up, which notifies nobody until it takes over."""

    def __init__(self, world):
        super().__init__(world)
        self.on_duty = False
        self.target._on_duty = lambda: self.on_duty


def minutes(phone, count, *firing):
    phone.step(*firing, times=count * 6)


def test_what_another_one_has_told_is_not_told_again_when_it_ends(world):
    phone = Second(world)
    minutes(phone, 5, "WEB01")
    assert phone.sent == []
    phone.on_duty = True
    minutes(phone, 5, "WEB01")
    assert phone.sent == []
    phone.step()
    assert [title for title in phone.titles if "WEB01" in title] == ["Recovered: Processor time on WEB01"]


def test_what_it_may_not_have_told_before_it_ended_is_told(world):
    phone = Second(world)
    minutes(phone, 5, "WEB01")
    phone.step("WEB01", "WEB02", times=LEFT_AFTER // (10 * SECOND) - 2)
    phone.on_duty = True
    phone.step("WEB01", "WEB02")
    assert len(phone.titles) == 1
    assert "WEB02" in phone.titles[0]


def test_each_tells_of_itself(world):
    phone = Second(world)
    phone.step("WEB01")
    with world.file.transaction() as connection:
        connection.execute("UPDATE alerts SET kind = 'plimsoll'")
    phone.tick()
    assert len(phone.sent) == 1
