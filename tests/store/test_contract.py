"""What every store does. A new implementation is added to the `store` fixture, and to nothing else."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.run import Phase, Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.run_states import Claim, State, Work

START = 1_700_000_000 * SECOND
EVER = (START - 10**15, START + 10**15)
# A folder of runs has none.
takes_live_samples = pytest.mark.parametrize("store", ["influx", "duckdb", "remote", "victoria"], indirect=True)


def cpu(host="WEB1", instance="_Total", field="Percent_Processor_Time"):
    tags = (("instance", instance), ("objectname", "Processor"), ("source", host))
    return Series(host, "win_cpu", tags, field, rf"\Processor({instance})\{field}")


def log(columns, *, every=10, start=START):
    """A log whose columns are given by their series; None where there is no sample."""
    rows = len(next(iter(columns.values())))
    times = start + np.arange(rows, dtype=np.int64) * every * SECOND
    values = tuple(pl.Series(one, dtype=pl.Float64) for one in columns.values())
    return Log(Path("night.csv"), "PDH-CSV", times, values, tuple(columns), Zone.parse("UTC"), sha256="ab")


def write(store, *logs):
    return list(store.write(logs))


def samples(store, series, span=EVER):
    (found,) = store.read([series], *span)
    return dict(zip(((found.times - START) / SECOND).tolist(), found.values.tolist(), strict=True))


def stored(*logs, name="night", **known):
    return StoredRun(Run(name, **known), tuple(Recording.of(one, "ab") for one in logs))


def test_reads_back_what_was_written_to_the_last_bit(store):
    values = [0.1, 1 / 3, 1e300, 5e-324, -0.0, 123456789.123456789, 2.0**53 + 2]
    assert [one.values for one in write(store, log({cpu(): values}))] == [len(values)]
    assert list(samples(store, cpu()).values()) == values


def test_times_are_kept_to_the_nanosecond(store):
    odd = replace(log({cpu(): [1.0, 2.0]}), times=np.array([START + 1, START + 1_000_000_007]))
    write(store, odd)
    (found,) = store.read([cpu()], *EVER)
    assert found.times.tolist() == odd.times.tolist()


def test_what_is_missing_is_not_stored(store):
    (written,) = write(store, log({cpu(): [1.0, None, 3.0], cpu(field="Percent_User_Time"): [None, None, None]}))
    assert written.values == 2
    assert samples(store, cpu()) == {0: 1, 20: 3}
    assert store.series(*EVER).series == [cpu()]


def test_writing_twice_changes_nothing(store):
    one = log({cpu(): [1.0, 2.0, 3.0], cpu(instance="0"): [4.0, 5.0, 6.0]})
    write(store, one)
    write(store, one, one)
    assert samples(store, cpu()) == {0: 1, 10: 2, 20: 3}
    assert samples(store, cpu(instance="0")) == {0: 4, 10: 5, 20: 6}


def test_later_values_replace_earlier_ones(store):
    write(store, log({cpu(): [1.0, 2.0]}))
    write(store, log({cpu(): [7.0]}))
    assert samples(store, cpu()) == {0: 7, 10: 2}


def test_what_is_missing_replaces_nothing(store):
    write(store, log({cpu(): [1.0, 2.0, 3.0]}))
    write(store, log({cpu(): [7.0, None, 9.0], cpu("DB1"): [None, 1.0, None]}))
    assert samples(store, cpu()) == {0: 7, 10: 2, 20: 9}


def test_batches_are_answered_in_their_order(store):
    whole = log({cpu(): [float(n) for n in range(100)]})
    answers = write(store, *(whole.rows(at, at + 30) for at in range(0, 100, 30)))
    assert [one.values for one in answers] == [30, 30, 30, 10]
    assert len(samples(store, cpu())) == 100


def test_columns_of_the_same_counter_count_as_one(store):
    one = log({cpu(): [1.0, None, None]})
    twins = replace(one, series=(cpu(), cpu()), columns=(one.columns[0], pl.Series([9.0, 2.0, None])))
    write(store, twins)
    assert samples(store, cpu()) == {0: 1, 10: 2}


STRANGERS = [
    r"\??\D:\pagefile.sys",
    "0,_Total",
    "1 C: E:",
    "Intel[R] Ethernet Connection [7] I219-V",
    "a=b, c d",
    "O'Neil",
    '"quoted"',
    "Ünïcode 日本",
    "ends in \\",
    "$host",
]


def test_names_of_strangers_come_back_as_they_were(store):
    odd, plain = [cpu(instance=name) for name in STRANGERS], cpu()
    run = stored(log({one: [float(at)] for at, one in enumerate(odd)}))
    write(store, *(log({one: [float(at)]}) for at, one in enumerate(odd)), log({plain: [99.0]}))
    assert [samples(store, one) for one in odd] == [{0: at} for at in range(len(odd))]
    store.save(run)
    for one in odd:
        store.remove(stored(log({one: [0.0]})).recordings[0])
        assert samples(store, one) == {}
    assert samples(store, plain) == {0: 99}


def test_hosts_and_instances_compare_without_regard_to_case(store):
    write(store, log({cpu("WEB1", "One"): [1.0]}))
    write(store, log({cpu("web1", "one"): [2.0]}, start=START + 10 * SECOND))
    assert samples(store, cpu("Web1", "ONE")) == {0: 1, 10: 2}
    assert len(store.series(*EVER, hosts=["wEB1"]).series) == 1
    assert len(store.hosts(*EVER)) == 1


def test_a_range_has_both_its_ends(store):
    write(store, log({cpu(): [1.0, 2.0, 3.0, 4.0]}))
    assert samples(store, cpu(), (START + 10 * SECOND, START + 20 * SECOND)) == {10: 2, 20: 3}
    assert samples(store, cpu(), (START + 11 * SECOND, START + 19 * SECOND)) == {}


def test_only_series_with_samples_in_the_range_are_listed(store):
    write(store, log({cpu(): [1.0, 2.0]}), log({cpu("DB1"): [1.0]}, start=START + 3600 * SECOND))
    assert store.series(START, START + 60 * SECOND).series == [cpu()]
    assert store.hosts(START, START + 7200 * SECOND) == ["DB1", "WEB1"]
    assert store.series(START, START + 7200 * SECOND, ["db1"]).series == [cpu("DB1")]
    assert store.series(START, START + 7200 * SECOND, ["elsewhere"]).series == []


def test_reading_what_is_not_there_gives_nothing(store):
    write(store, log({cpu(): [1.0]}))
    absent, other = store.read([cpu("DB9"), cpu(field="No_Such")], *EVER)
    assert len(absent.times) == len(other.times) == 0
    (found,) = store.buckets([cpu("DB9")], *EVER, 60 * SECOND)
    assert len(found.times) == 0


def test_buckets_hold_minimum_maximum_and_mean(store):
    write(store, log({cpu(): [1.0, 5.0, None, 3.0, 8.0, 8.0]}, start=START - START % (60 * SECOND)))
    (found,) = store.buckets([cpu()], *EVER, 30 * SECOND)
    assert ((found.times - found.times[0]) / SECOND).tolist() == [0, 30]
    assert found.times[0] % (30 * SECOND) == 0
    assert found.minimum.tolist() == [1, 3]
    assert found.maximum.tolist() == [5, 8]
    assert found.mean.tolist() == pytest.approx([3, 19 / 3])


def test_a_line_is_drawn_by_the_first_last_lowest_and_highest_sample_of_each_bucket(store):
    values = [5.0, 1.0, 3.0, 9.0, 4.0, 6.0, None, None, 7.0, 7.0, 7.0, 7.0]
    write(store, log({cpu(): values, cpu("DB1"): [1.0, 2.0, *[None] * 10]}))
    end = START + len(values) * 10 * SECOND - 1
    drawn, few, absent = store.drawn([cpu(), cpu("DB1"), cpu("DB9")], START, end, 2)
    assert ((drawn.samples.times - START) / SECOND).tolist() == [0, 10, 30, 50, 80, 110]
    assert drawn.samples.values.tolist() == [5, 1, 9, 6, 7, 7]
    assert few.samples.values.tolist() == [1, 2]
    assert len(absent.samples.times) == 0
    assert [one.count for one in (drawn, few, absent)] == [10, 2, 0]


def test_buckets_without_samples_are_left_out(store):
    write(store, log({cpu(): [1.0]}), log({cpu(): [2.0]}, start=START + 3600 * SECOND))
    (found,) = store.buckets([cpu()], *EVER, 60 * SECOND)
    assert found.mean.tolist() == [1, 2]


def test_many_instances_are_read_at_once(store):
    many = {cpu(instance=str(n)): [float(n), float(n)] for n in range(45)}
    write(store, log(many))
    read = store.read(list(many), *EVER)
    assert [one.values.tolist() for one in read] == list(many.values())


def points(*samples):
    """Live samples: series, seconds after START and value of each."""
    series = list(dict.fromkeys(one for one, _, _ in samples))
    which = np.array([series.index(one) for one, _, _ in samples], np.int32)
    times = np.array([START + at * SECOND for _, at, _ in samples], np.int64)
    return Points(series, which, times, np.array([value for _, _, value in samples], np.float64))


@takes_live_samples
def test_live_samples_are_read_back_to_the_last_bit(store):
    written = store.write_points(points((cpu(), 0, 0.1), (cpu("DB1"), 0, 1e300), (cpu(), 10, -0.0), (cpu(), 20, 3.0)))
    assert (written.values, written.refused) == (4, 0)
    assert samples(store, cpu()) == {0: 0.1, 10: -0.0, 20: 3.0}
    assert samples(store, cpu("DB1")) == {0: 1e300}
    assert store.write_points(points()).values == 0


@takes_live_samples
def test_of_live_samples_at_one_time_the_last_counts(store):
    store.write_points(points((cpu(), 0, 1.0), (cpu(), 10, 5.0), (cpu(), 0, 2.0)))
    assert samples(store, cpu()) == {0: 2, 10: 5}
    store.write_points(points((cpu(), 10, 7.0), (cpu(), 20, 9.0)))
    assert samples(store, cpu()) == {0: 2, 10: 7, 20: 9}


@takes_live_samples
def test_live_samples_may_come_late_and_again(store):
    store.write_points(points((cpu(), 50, 5.0), (cpu("DB1"), 0, 1.0)))
    late = points((cpu(), 20, 2.0), (cpu(), -86_400, 3.0))
    for _ in range(3):
        store.write_points(late)
        store.write_points(points((cpu(), 50, 5.0)))
    assert samples(store, cpu()) == {-86_400: 3, 20: 2, 50: 5}
    assert store.counts([cpu(), cpu("DB1")], *EVER) == [3, 1]


@takes_live_samples
def test_reads_while_live_samples_are_written(store):
    """Every answer has whole batches: all those that were acknowledged before it was asked for."""
    acknowledged, wrong, done = [0], [], threading.Event()

    def read():
        while not done.is_set():
            before = acknowledged[0]
            counts = [len(one.times) for one in store.read([cpu(), cpu("DB1")], *EVER)]
            if counts[0] < before or counts[1] < before or store.counts([cpu()], *EVER)[0] < before:
                wrong.append((before, counts))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for one in readers:
        one.start()
    for at in range(30):
        store.write_points(points((cpu(), at, 1.0), (cpu("DB1"), at, 2.0)))
        acknowledged[0] = at + 1
    done.set()
    for one in readers:
        one.join()
    assert not wrong
    assert len(samples(store, cpu())) == 30


def test_removes_a_recording_and_nothing_that_lies_between(store):
    mine = log({cpu(): [1.0, 2.0, 3.0], cpu(field="Percent_User_Time"): [4.0, 5.0, 6.0]})
    between = log({cpu(): [7.0, 8.0]}, start=START + 5 * SECOND)
    beside = log({cpu(field="Percent_Idle_Time"): [9.0, 9.5, None], cpu("DB1"): [1.0, 1.0, 1.0]})
    write(store, mine, between, beside)
    store.remove(Recording.of(mine, "ab"))
    assert samples(store, cpu()) == {5: 7, 15: 8}
    assert samples(store, cpu(field="Percent_User_Time")) == {}
    assert samples(store, cpu(field="Percent_Idle_Time")) == {0: 9, 10: 9.5}
    assert samples(store, cpu("DB1")) == {0: 1, 10: 1, 20: 1}


def test_removing_leaves_points_with_fewer_tags_alone(store):
    whole = Series("WEB1", "win_cpu", (("objectname", "Processor"), ("source", "WEB1")), "Percent_Processor_Time")
    mine, other = log({cpu(): [1.0, 2.0]}), log({whole: [3.0, 4.0]})
    write(store, mine, other)
    store.remove(Recording.of(other, "ab"))
    assert samples(store, whole) == {}
    assert samples(store, cpu()) == {0: 1, 10: 2}


def test_removing_leaves_what_another_recording_holds_too(store):
    one, other = log({cpu(): [1.0, 2.0, 3.0]}), log({cpu(): [2.0, 3.0]}, start=START + 10 * SECOND)
    write(store, one, other)
    store.remove(Recording.of(one, "ab"), [Recording.of(other, "cd")])
    assert samples(store, cpu()) == {10: 2, 20: 3}


def test_removing_twice_is_removing_once(store):
    one = log({cpu(): [1.0, 2.0]})
    write(store, one)
    store.remove(Recording.of(one, "ab"))
    store.remove(Recording.of(one, "ab"))
    assert store.series(*EVER).series == []


def test_a_run_comes_back_as_it_was(store):
    zones = [Zone.from_bias("W. Europe Standard Time", -60), Zone.parse("Europe/Berlin"), Zone.parse("+05:30")]
    logs = [replace(log({cpu(f"WEB{n}"): [1.0, None]}), zone=zone) for n, zone in enumerate(zones)]
    remarks = (Remark(Kind.REPAIRED, "put in order", file="night.csv", line=3, counter=r"\a\b", count=2),)
    logs[0] = replace(logs[0], remarks=remarks, unread=("% Processor Time",))
    phases = (Phase("steady", START, START + 5),)
    run = replace(
        stored(*logs, labels={"logon_rate": "36", "note": 'a "b", c=d'}, phases=phases, simulated=True),
        remarks=remarks,
        settings='[run]\nname = "x"\n',
    )
    store.save(run)
    found = store.run("night")
    assert found is not None
    assert (found.run, found.remarks, found.settings) == (run.run, run.remarks, run.settings)
    for was, now in zip(run.recordings, found.recordings, strict=True):
        assert now.times.tolist() == was.times.tolist()
        assert [one.path for one in now.series] == [one.path for one in was.series]
        assert [rows.tolist() for rows in now.missing] == [rows.tolist() for rows in was.missing]
        assert (now.path, now.format, now.sha256, now.zone, now.series, now.remarks, now.unread) == (
            *(was.path, was.format, was.sha256, was.zone, was.series, was.remarks, was.unread),
        )


def test_a_long_manifest_is_kept_whole(store):
    rng = np.random.default_rng(1)
    many = {cpu(instance=str(n), field=f"F{rng.integers(10**9)}"): [1.0] * 50 for n in range(3000)}
    jittered = replace(log(many), times=START + np.cumsum(rng.integers(1, 10**11, 50)))
    store.save(stored(jittered))
    found = store.run("night")
    assert found is not None
    assert found.recordings[0].series == jittered.series
    assert found.recordings[0].times.tolist() == jittered.times.tolist()


def test_runs_are_listed_the_latest_first_with_what_is_loaded(store):
    early, late = log({cpu(): [1.0, 2.0]}), log({cpu("DB1"): [1.0]}, start=START + 3600 * SECOND)
    runs = [stored(early, name="early", labels={"k": "v"}), stored(late, name="late, and 'odd' = \"name\"")]
    saved = [store.save(run) for run in runs]
    store.mark(store.mark(saved[0], State.LOADING, loaded=2, refused=1), State.COMPLETE, loaded=2, refused=1)
    first, second = store.runs()
    assert (first.name, first.complete) == (runs[1].name, False)
    assert (second.name, second.complete, second.loaded, second.refused) == ("early", True, 2, 1)
    assert (second.start, second.hosts, second.labels, second.files) == (START, ("WEB1",), {"k": "v"}, 1)
    store.forget(saved[1])
    assert [one.name for one in store.runs()] == ["early"]
    assert store.run(runs[1].name) is None


def test_what_an_overtaken_command_still_writes_concerns_no_other_run(store):
    run = stored(log({cpu(): [1.0]}))
    deleted = store.save(run)
    store.forget(deleted)
    store.mark(deleted, State.COMPLETE, loaded=1, refused=0)
    assert (store.runs(), store.run("night")) == ([], None)
    again = store.save(run)
    store.mark(deleted, State.COMPLETE, loaded=1, refused=0)
    store.forget(deleted)
    assert store.runs() == [again]
    assert again.state is State.LOADING
    assert store.run("night") is not None


def test_a_run_that_is_saved_again_is_listed_once(store):
    first = store.save(stored(log({cpu(): [1.0]})))
    store.mark(first, State.DELETING, loaded=0, refused=0)
    second = store.save(stored(log({cpu("DB1"): [1.0, 2.0]}, start=START + 3600 * SECOND)))
    assert store.runs() == [second]
    found = store.run("night")
    assert found is not None
    assert found.hosts == ("DB1",)


def test_samples_are_counted(store):
    write(store, log({cpu(): [1.0, None, 3.0, 4.0], cpu(instance="0"): [1.0, 2.0, 3.0, 4.0]}))
    write(store, log({cpu("web1"): [5.0]}, start=START + 15 * SECOND))
    asked = [cpu(), cpu(instance="0"), cpu("DB1"), cpu(field="No_Such")]
    assert store.counts(asked, START + 10 * SECOND, START + 20 * SECOND) == [2, 2, 0, 0]


def test_a_claim_lives_as_long_as_its_holder_is_heard_of(store):
    claim = Claim("night", "h1", Work.LOADING, 'root@"build", 7')
    store.claim(claim)
    store.claim(Claim("it's, day", "h2", Work.DELETING, "x"))
    written, other = sorted(store.claims(60), key=lambda one: one.holder)
    assert (written.run, written.work, written.who, written.alive) == ("night", Work.LOADING, claim.who, True)
    assert (other.run, other.work) == ("it's, day", Work.DELETING)
    time.sleep(0.2)
    assert not any(one.alive for one in store.claims(0.1))
    store.beat(claim)
    beaten = next(one for one in store.claims(60) if one.holder == "h1")
    assert (beaten.since, beaten.heard > written.heard) == (written.since, True)
    store.withdraw("h1")
    store.beat(claim)
    assert [one.holder for one in store.claims(60)] == ["h2"]
    assert store.series(*EVER).series == []


def test_what_is_kept_of_runs_is_no_series(store):
    store.save(stored(log({cpu(): [1.0]})))
    assert store.series(*EVER).series == []
    assert store.hosts(*EVER) == []


def test_saving_a_run_again_replaces_it(store):
    store.save(stored(log({cpu(instance=str(n)): [1.0] for n in range(4000)})))
    store.save(stored(log({cpu(): [1.0]})))
    found = store.run("night")
    assert found is not None
    assert found.recordings[0].series == (cpu(),)
