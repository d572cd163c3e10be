"""Zones by the names that Windows gives them: in headers, beside a bias, and as people name them."""

import pytest

from plimsoll.ingest.shared.zones import _load_zones, find_windows_zone, is_steady, make_stated_zone
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remarks
from plimsoll.model.times import Zone

UNCHANGING = _load_zones().unchanging


@pytest.mark.parametrize(
    ("name", "bias", "named", "is_", "zone_"),
    [
        ("Tokyo Standard Time", 540, "+09:00", "-09:00", "+09:00"),
        ("SA Pacific Standard Time", -300, "-05:00", "+05:00", "-05:00"),
        ("India Standard Time", 330, "+05:30", "-05:30", "+05:30"),
        ("UTC+03:00", 180, "+03:00", "-03:00", "+03:00"),
        ("(UTC+03:00) Kuwait, Riyadh", 180, "+03:00", "-03:00", "+03:00"),
        ("UTC-11", -660, "-11:00", "+11:00", "-11:00"),
        ("Pacific Daylight Time", -420, "-07:00", "+07:00", "America/Los_Angeles"),
        ("Pacific Standard Time", -480, "-08:00", "+08:00", "America/Los_Angeles"),
        ("Pacific Standard Time", -420, "-07:00", "+07:00", "America/Los_Angeles"),
        ("Eastern Daylight Time", -240, "-04:00", "+04:00", "America/New_York"),
        ("W. Europe Standard Time", 60, "+01:00", "-01:00", "Europe/Berlin"),
        ("W. Europe Daylight Time", 120, "+02:00", "-02:00", "Europe/Berlin"),
        ("GMT Daylight Time", 60, "+01:00", "-01:00", "Europe/London"),
        ("AUS Eastern Daylight Time", 660, "+11:00", "-11:00", "Australia/Sydney"),
    ],
)
def test_a_bias_with_the_opposite_sign_is_taken_and_told(name, bias, named, is_, zone_):
    remarks = Remarks()
    zone = make_stated_zone(name, bias, None, remarks)
    assert zone == Zone.from_bias(name, bias)
    (remark,) = remarks
    assert (remark.kind, remark.text) == (
        Kind.GUESSED,
        f'the zone\'s name in the header, "{name}", is UTC{named}, but its bias of {bias} minutes is the opposite, '
        f"UTC{is_}: the bias is taken; if the name is right, say so with {Parameter.ZONE} {zone_}",
    )


@pytest.mark.parametrize(
    ("name", "bias", "is_", "zone_"),
    [
        ("W. Europe Standard Time", 0, "+00:00", "Europe/Berlin"),
        ("W. Europe Standard Time", 300, "-05:00", "Europe/Berlin"),
        ("W. Europe Daylight Time", -180, "+03:00", "Europe/Berlin"),
        ("Pacific Standard Time", 300, "-05:00", "America/Los_Angeles"),
        ("Eastern Daylight Time", 0, "+00:00", "America/New_York"),
        ("Sri Lanka Standard Time", -345, "+05:45", "Asia/Colombo"),
        ("Tokyo Standard Time", 0, "+00:00", "+09:00"),
        ("UTC", 60, "-01:00", "+00:00"),
        ("GMT", -60, "+01:00", "+00:00"),
        ("UTC-11", 600, "-10:00", "-11:00"),
    ],
)
def test_a_bias_that_its_zone_never_had_is_taken_and_told(name, bias, is_, zone_):
    remarks = Remarks()
    assert make_stated_zone(name, bias, None, remarks) == Zone.from_bias(name, bias)
    (remark,) = remarks
    assert (remark.kind, remark.text) == (
        Kind.GUESSED,
        f'the header\'s bias of {bias} minutes is UTC{is_}, at which the zone that it names, "{name}", never is: '
        f"the bias is taken; if the name is right, say so with {Parameter.ZONE} {zone_}",
    )


@pytest.mark.parametrize(
    ("name", "bias"),
    [
        ("Turkey Standard Time", -120),
        ("Morocco Standard Time", 0),
        ("Samoa Standard Time", 660),
        ("Sri Lanka Standard Time", -360),
        ("Venezuela Standard Time", 270),
        ("N. Central Asia Standard Time", -360),
    ],
)
def test_a_bias_that_its_zone_once_had_is_trusted(name, bias):
    remarks = Remarks()
    make_stated_zone(name, bias, None, remarks)
    assert list(remarks) == []


@pytest.mark.parametrize(
    ("name", "bias", "inputs"),
    [
        ("Tokyo Standard Time", 540, "+09:00"),
        ("Tokyo Standard Time", 540, "Asia/Tokyo"),
        ("Pacific Daylight Time", -420, "-07:00"),
        ("Pacific Daylight Time", -420, "America/Los_Angeles"),
        ("Pacific Standard Time", -480, "America/Los_Angeles"),
        ("Pacific Standard Time", -480, "America/Vancouver"),
        ("(UTC+01:00) Amsterdam, Berlin", 60, "Europe/Berlin"),
        ("W. Europe Standard Time", 0, "Europe/Berlin"),
        ("W. Europe Standard Time", 0, "+01:00"),
        ("Tokyo Standard Time", 0, "Asia/Tokyo"),
    ],
)
def test_people_can_say_that_the_name_is_right(name, bias, inputs):
    remarks = Remarks()
    assert make_stated_zone(name, bias, Zone.parse(inputs), remarks) == Zone.parse(inputs)
    (remark,) = remarks
    assert remark.kind is Kind.REPAIRED
    assert remark.text.endswith(f"{Parameter.ZONE} agrees with the name, which is taken")


@pytest.mark.parametrize(
    ("name", "bias", "inputs"),
    [("Tokyo Standard Time", 540, "Europe/Berlin"), ("Pacific Standard Time", 300, "America/Denver")],
)
def test_a_zone_that_is_not_the_name_s_does_not_count(name, bias, inputs):
    remarks = Remarks()
    assert make_stated_zone(name, bias, Zone.parse(inputs), remarks) == Zone.from_bias(name, bias)
    assert [remark.kind for remark in remarks] == [Kind.GUESSED]


@pytest.mark.parametrize(
    ("name", "bias"),
    [
        ("GMT Standard Time", -60),
        ("Eastern Standard Time", 240),
        ("Azores Standard Time", 60),
        ("Azores Standard Time", 0),
        ("Tokyo Standard Time", -540),
        ("UTC", 0),
        ("UTC+03:00", -180),
        ("(UTC+01:00) Amsterdam, Berlin", -120),
        ("GMT+5", 300),
        ("Eastern Daylight Time", 240),
        ("+03:00", -180),
        ("", 0),
    ],
)
def test_a_bias_is_trusted_without_a_word(name, bias):
    remarks = Remarks()
    assert make_stated_zone(name, bias, Zone.parse("Asia/Tokyo"), remarks) == Zone.from_bias(name, bias)
    assert list(remarks) == []


@pytest.mark.parametrize("minutes", UNCHANGING)
def test_each_offset_of_the_zones_that_never_change(minutes):
    for name in UNCHANGING[minutes]:
        remarks = Remarks()
        make_stated_zone(name, -minutes, None, remarks)
        assert not list(remarks)
        make_stated_zone(name, minutes, None, remarks)
        assert len(list(remarks)) == (minutes != 0)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Tokyo Standard Time", "Tokyo Standard Time, UTC+09:00"),
        ("India Standard Time", "India Standard Time, UTC+05:30"),
        ("Coordinated Universal Time", "Coordinated Universal Time, UTC"),
        ("GMT", "GMT, UTC"),
        ("UTC", "UTC"),
        ("UTC-11", "UTC-11, UTC-11:00"),
    ],
)
def test_steady_zones_by_windows_name(name, label):
    zone = find_windows_zone(name)
    assert zone
    assert zone.label(0) == label
    assert is_steady(zone.name)


@pytest.mark.parametrize("name", ["W. Europe Standard Time", "W. Europe Daylight Time"])
def test_a_changing_zone_by_windows_name_goes_by_its_rules(name):
    assert find_windows_zone(name) == Zone(name, Zone.parse("Europe/Berlin").rule)


@pytest.mark.parametrize(
    "name", ["", "Tokyo", "W. Europe", "Tokyo Daylight Time", "Nowhere Standard Time", "UTC+99", "UTC+5", "Asia/Tokyo"]
)
def test_what_is_no_zone_of_windows(name):
    assert find_windows_zone(name) is None
