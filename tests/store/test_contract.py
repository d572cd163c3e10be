"""What every store does with samples, live or of a run, and with runs.

A new implementation is added to the fixtures `samples` and `store`, and to nothing else.
"""

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.run import Phase, Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.influx.runs import make_influx_store
from plimsoll.store.protocol import Claim, SampleReader, StoreState, Work
from plimsoll.store.store import Store
from tests.stored_runs import points_of

START = 1_700_000_000 * SECOND
EVER = (START - 10**15, START + 10**15)


def cpu(host="WEB1", instance="_Total", field="Percent_Processor_Time"):
    tags = (("instance", instance), ("objectname", "Processor"), ("source", host))
    return Series(host, "win_cpu", tags, field, rf"\Processor({instance})\{field}")


def log(columns, *, every=10, start=START):
    """A log whose columns are given by their series; None where there is no sample."""
    rows = len(next(iter(columns.values())))
    times = start + np.arange(rows, dtype=np.int64) * every * SECOND
    values = tuple(np.array(column, dtype=float) for column in columns.values())
    return Log(Path("night.csv"), "PDH-CSV", times, values, tuple(columns), Zone.parse("UTC"), sha256="ab")


@dataclass
class LiveSamples:
    """Live samples of a store."""

    store: Store

    def write(self, *logs):
        return [self.store.live.write_points(points_of(log)) for log in logs]

    @property
    def reader(self) -> SampleReader:
        return self.store.live


class RunSamples:
    """The samples of a run of a store."""

    def __init__(self, store: Store):
        self.store = store
        self.run = store.runs.save(stored(log({cpu(): [1.0]})))

    def write(self, *logs):
        return list(self.store.runs.write(self.run, logs))

    @property
    def reader(self) -> SampleReader:
        return self.store.runs.samples(self.run)


RUNS = ["run of duckdb", "run of influx"]
KEEP_EVERY_BIT = ["influx", "duckdb", "closed", "remote"]  # VictoriaMetrics rounds, and keeps the higher of two values


@pytest.fixture(params=[*KEEP_EVERY_BIT, "victoria", *RUNS])
def samples(request):
    """A place for samples, empty."""
    name = request.param.removeprefix("run of ")
    value = request.getfixturevalue(name)
    store = make_influx_store(value) if name == "influx" else value
    return LiveSamples(store) if name == request.param else RunSamples(store)


in_exact_places = pytest.mark.parametrize("samples", [*KEEP_EVERY_BIT, *RUNS], indirect=True)
in_live_places = pytest.mark.parametrize("samples", [*KEEP_EVERY_BIT, "victoria"], indirect=True)


def values_of(samples, series, span=EVER):
    (read,) = samples.reader.read([series], *span)
    return dict(zip(((read.times - START) / SECOND).tolist(), read.values.tolist(), strict=True))


def stored(*logs, name="night", **options):
    return StoredRun(Run(name, **options), tuple(Recording.of(item, "ab") for item in logs))


@in_exact_places
def test_reads_back_what_was_written_to_the_last_bit(samples):
    values = [0.1, 1 / 3, 1e300, 5e-324, -0.0, 123456789.123456789, 2.0**53 + 2]
    assert [result.values for result in samples.write(log({cpu(): values}))] == [len(values)]
    assert list(values_of(samples, cpu()).values()) == values


@in_exact_places
def test_times_are_kept_to_the_nanosecond(samples):
    odd = replace(log({cpu(): [1.0, 2.0]}), times=np.array([START + 1, START + 1_000_000_007]))
    samples.write(odd)
    (read,) = samples.reader.read([cpu()], *EVER)
    assert read.times.tolist() == odd.times.tolist()


def test_missing_values_are_not_stored(samples):
    (written,) = samples.write(log({cpu(): [1.0, None, 3.0], cpu(field="Percent_User_Time"): [None, None, None]}))
    assert written.values == 2
    assert values_of(samples, cpu()) == {0: 1, 20: 3}
    assert samples.reader.series(*EVER).series == [cpu()]


def test_writing_twice_changes_nothing(samples):
    twice = log({cpu(): [1.0, 2.0, 3.0], cpu(instance="0"): [4.0, 5.0, 6.0]})
    samples.write(twice)
    samples.write(twice, twice)
    assert values_of(samples, cpu()) == {0: 1, 10: 2, 20: 3}
    assert values_of(samples, cpu(instance="0")) == {0: 4, 10: 5, 20: 6}


@in_exact_places
def test_later_values_replace_earlier_ones_and_missing_ones_nothing(samples):
    samples.write(log({cpu(): [1.0, 2.0, 3.0]}))
    samples.write(log({cpu(): [7.0, None, 9.0], cpu("DB1"): [None, 1.0, None]}))
    assert values_of(samples, cpu()) == {0: 7, 10: 2, 20: 9}


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


def test_names_of_strangers_come_back_as_they_were(samples):
    odd, plain = [cpu(instance=name) for name in STRANGERS], cpu()
    samples.write(*(log({series: [float(at)]}) for at, series in enumerate(odd)), log({plain: [99.0]}))
    assert [values_of(samples, series) for series in odd] == [{0: at} for at in range(len(odd))]
    assert values_of(samples, plain) == {0: 99}


def test_hosts_and_instances_compare_without_regard_to_case(samples):
    samples.write(log({cpu("WEB1", "One"): [1.0]}))
    samples.write(log({cpu("web1", "one"): [2.0]}, start=START + 10 * SECOND))
    assert values_of(samples, cpu("Web1", "ONE")) == {0: 1, 10: 2}
    assert len(samples.reader.series(*EVER, hosts=["wEB1"]).series) == 1
    assert len(samples.reader.hosts(*EVER)) == 1


def test_a_range_has_both_its_ends(samples):
    samples.write(log({cpu(): [1.0, 2.0, 3.0, 4.0]}))
    assert values_of(samples, cpu(), (START + 10 * SECOND, START + 20 * SECOND)) == {10: 2, 20: 3}
    assert values_of(samples, cpu(), (START + 11 * SECOND, START + 19 * SECOND)) == {}


def test_only_series_with_samples_in_the_range_are_listed(samples):
    samples.write(log({cpu(): [1.0, 2.0]}), log({cpu("DB1"): [1.0]}, start=START + 3600 * SECOND))
    reader = samples.reader
    assert reader.series(START, START + 60 * SECOND).series == [cpu()]
    assert reader.hosts(START, START + 7200 * SECOND) == ["DB1", "WEB1"]
    assert reader.series(START, START + 7200 * SECOND, ["db1"]).series == [cpu("DB1")]
    assert reader.series(START, START + 7200 * SECOND, ["elsewhere"]).series == []


def test_reading_what_is_not_there_gives_nothing(samples):
    samples.write(log({cpu(): [1.0]}))
    absent, other = samples.reader.read([cpu("DB9"), cpu(field="No_Such")], *EVER)
    assert len(absent.times) == len(other.times) == 0
    (buckets,) = samples.reader.buckets([cpu("DB9")], *EVER, 60 * SECOND)
    assert len(buckets.times) == 0


def test_buckets_hold_minimum_maximum_and_mean_and_are_left_out_without_samples(samples):
    start = START - START % (60 * SECOND)
    later = start + 3600 * SECOND
    samples.write(log({cpu(): [1.0, 5.0, None, 3.0, 8.0, 8.0]}, start=start), log({cpu(): [2.0]}, start=later))
    (buckets,) = samples.reader.buckets([cpu()], *EVER, 30 * SECOND)
    assert buckets.times.tolist() == [start, start + 30 * SECOND, later]
    assert buckets.minimum.tolist() == [1, 3, 2]
    assert buckets.maximum.tolist() == [5, 8, 2]
    assert buckets.mean.tolist() == pytest.approx([3, 19 / 3, 2])


def test_a_line_is_drawn_by_the_first_last_lowest_and_highest_sample_of_each_bucket(samples):
    values = [5.0, 1.0, 3.0, 9.0, 4.0, 6.0, None, None, 7.0, 7.0, 7.0, 7.0]
    samples.write(log({cpu(): values, cpu("DB1"): [1.0, 2.0, *[None] * 10]}))
    end = START + len(values) * 10 * SECOND - 1
    drawn, few, absent = samples.reader.drawn([cpu(), cpu("DB1"), cpu("DB9")], START, end, 2)
    assert ((drawn.samples.times - START) / SECOND).tolist() == [0, 10, 30, 50, 80, 110]
    assert drawn.samples.values.tolist() == [5, 1, 9, 6, 7, 7]
    assert few.samples.values.tolist() == [1, 2]
    assert len(absent.samples.times) == 0
    assert [line.count for line in (drawn, few, absent)] == [10, 2, 0]


def test_many_instances_are_read_at_once(samples):
    many = {cpu(instance=str(n)): [float(n), float(n)] for n in range(45)}
    samples.write(log(many))
    assert [read.values.tolist() for read in samples.reader.read(list(many), *EVER)] == list(many.values())


def test_samples_are_counted(samples):
    samples.write(log({cpu(): [1.0, None, 3.0, 4.0], cpu(instance="0"): [1.0, 2.0, 3.0, 4.0]}))
    samples.write(log({cpu("web1"): [5.0]}, start=START + 15 * SECOND))
    series = [cpu(), cpu(instance="0"), cpu("DB1"), cpu(field="No_Such")]
    assert samples.reader.counts(series, START + 10 * SECOND, START + 20 * SECOND) == [2, 2, 0, 0]


def points(*samples):
    """Live samples: series, seconds after START and value of each."""
    series = list(dict.fromkeys(item for item, _, _ in samples))
    which = np.array([series.index(item) for item, _, _ in samples], np.int32)
    times = np.array([START + at * SECOND for _, at, _ in samples], np.int64)
    return Points(series, which, times, np.array([value for _, _, value in samples], np.float64))


@in_live_places
def test_of_live_samples_at_one_time_the_last_counts(samples):
    write = samples.store.live.write_points
    write(points((cpu(), 0, 1.0), (cpu(), 10, 5.0), (cpu(), 0, 2.0)))
    assert values_of(samples, cpu()) == {0: 2, 10: 5}
    write(points((cpu(), 10, 7.0), (cpu(), 20, 9.0)))
    assert values_of(samples, cpu()) == {0: 2, 10: 7, 20: 9}
    assert write(points()).values == 0


@in_live_places
def test_live_samples_may_come_late_and_again(samples):
    write = samples.store.live.write_points
    write(points((cpu(), 50, 5.0), (cpu("DB1"), 0, 1.0)))
    late = points((cpu(), 20, 2.0), (cpu(), -86_400, 3.0))
    for _ in range(3):
        write(late)
        write(points((cpu(), 50, 5.0)))
    assert values_of(samples, cpu()) == {-86_400: 3, 20: 2, 50: 5}
    assert samples.reader.counts([cpu(), cpu("DB1")], *EVER) == [3, 1]


@in_live_places
def test_reads_while_live_samples_are_written(samples):
    """Every answer has whole batches: all those that were acknowledged before it was asked for."""
    acknowledged, wrong, done = [0], [], threading.Event()

    def read():
        while not done.is_set():
            before = acknowledged[0]
            counts = [len(read.times) for read in samples.reader.read([cpu(), cpu("DB1")], *EVER)]
            if counts[0] < before or counts[1] < before or samples.reader.counts([cpu()], *EVER)[0] < before:
                wrong.append((before, counts))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for at in range(30):
        samples.store.live.write_points(points((cpu(), at, 1.0), (cpu("DB1"), at, 2.0)))
        acknowledged[0] = at + 1
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert len(values_of(samples, cpu())) == 30


def complete(store, *logs, name="night"):
    """Load logs as a run."""
    run = store.runs.save(stored(*logs, name=name))
    results = list(store.runs.write(run, logs))
    return results, store.runs.mark(run, StoreState.COMPLETE, loaded=run.values, refused=0)


def present(reader, series=None):
    (read,) = reader.read([series or cpu()], *EVER)
    return dict(zip(((read.times - START) / SECOND).tolist(), read.values.tolist(), strict=True))


def test_batches_of_a_run_are_answered_in_their_order(store):
    whole = log({cpu(): [float(n) for n in range(100)]})
    results, run = complete(store, *(whole.rows(at, at + 30) for at in range(0, 100, 30)))
    assert [result.values for result in results] == [30, 30, 30, 10]
    assert len(present(store.runs.samples(run))) == 100


def test_columns_of_the_same_counter_count_as_one(store):
    first = log({cpu(): [1.0, None, None]})
    _, run = complete(
        store, replace(first, series=(cpu(), cpu()), columns=(first.columns[0], np.array([9.0, 2.0, np.nan])))
    )
    assert present(store.runs.samples(run)) == {0: 1, 10: 2}


def test_each_run_has_its_own_samples_and_loses_them_alone(store):
    _, first = complete(store, log({cpu(): [1.0, 2.0, 3.0]}), name="first")
    _, second = complete(store, log({cpu(): [7.0, 8.0]}, start=START + 20 * SECOND), name="second")
    assert present(store.runs.samples(first)) == {0: 1, 10: 2, 20: 3}
    assert present(store.runs.samples(second)) == {20: 7, 30: 8}
    assert present(store.samples).keys() == {0, 10, 20, 30}
    store.runs.forget(first)
    assert present(store.runs.samples(first)) == {}
    assert present(store.samples) == {20: 7, 30: 8}
    assert store.samples.hosts(*EVER) == ["WEB1"]
    store.runs.forget(second)
    assert store.samples.series(*EVER).series == []


@pytest.mark.parametrize("store", ["influx", "duckdb", "remote", "victoria"], indirect=True)
def test_runs_and_live_samples_are_read_as_one_where_the_run_counts(store):
    store.live.write_points(points((cpu(), 10, 5.0), (cpu(), 15, 6.0), (cpu("DB1"), 0, 1.0)))
    _, run = complete(store, log({cpu(): [1.0, 2.0]}))
    assert present(store.samples) == {0: 1, 10: 2, 15: 6}
    assert store.samples.counts([cpu(), cpu("DB1")], *EVER) == [3, 1]
    (buckets,) = store.samples.buckets([cpu()], *EVER, 3600 * SECOND)
    assert (buckets.minimum.tolist(), buckets.maximum.tolist(), buckets.mean.tolist()) == ([1], [6], [3])
    (line,) = store.samples.drawn([cpu()], START, START + 3600 * SECOND, 1)
    assert line.count == 3
    assert present(store.live) == {10: 5, 15: 6}
    assert store.samples.hosts(*EVER) == ["DB1", "WEB1"]
    store.runs.forget(run)
    assert present(store.samples) == {10: 5, 15: 6}


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
    store.runs.save(run)
    result = store.runs.get("night")
    assert result is not None
    assert (result.run, result.remarks, result.settings) == (run.run, run.remarks, run.settings)
    for was, now in zip(run.recordings, result.recordings, strict=True):
        assert now.times.tolist() == was.times.tolist()
        assert [series.path for series in now.series] == [series.path for series in was.series]
        assert [rows.tolist() for rows in now.missing] == [rows.tolist() for rows in was.missing]
        assert (now.path, now.format, now.sha256, now.zone, now.series, now.remarks, now.unread) == (
            *(was.path, was.format, was.sha256, was.zone, was.series, was.remarks, was.unread),
        )


def test_a_long_manifest_is_kept_whole(store):
    rng = np.random.default_rng(1)
    many = {cpu(instance=str(n), field=f"F{rng.integers(10**9)}"): [1.0] * 50 for n in range(3000)}
    jittered = replace(log(many), times=START + np.cumsum(rng.integers(1, 10**11, 50)))
    store.runs.save(stored(jittered))
    run = store.runs.get("night")
    assert run is not None
    assert run.recordings[0].series == jittered.series
    assert run.recordings[0].times.tolist() == jittered.times.tolist()


def test_runs_are_listed_the_latest_first_with_what_is_loaded(store):
    early, late = log({cpu(): [1.0, 2.0]}), log({cpu("DB1"): [1.0]}, start=START + 3600 * SECOND)
    runs = [stored(early, name="early", labels={"k": "v"}), stored(late, name="late, and 'odd' = \"name\"")]
    saved = [store.runs.save(run) for run in runs]
    store.runs.mark(
        store.runs.mark(saved[0], StoreState.LOADING, loaded=2, refused=1), StoreState.COMPLETE, loaded=2, refused=1
    )
    first, second = store.runs.summaries()
    assert (first.name, first.complete) == (runs[1].name, False)
    assert (second.name, second.complete, second.loaded, second.refused) == ("early", True, 2, 1)
    assert (second.start, second.hosts, second.labels, second.files) == (START, ("WEB1",), {"k": "v"}, 1)
    store.runs.forget(saved[1])
    assert [summary.name for summary in store.runs.summaries()] == ["early"]
    assert store.runs.get(runs[1].name) is None


def test_what_an_overtaken_command_still_writes_concerns_no_other_run(store):
    run = stored(log({cpu(): [1.0]}))
    deleted = store.runs.save(run)
    store.runs.forget(deleted)
    store.runs.mark(deleted, StoreState.COMPLETE, loaded=1, refused=0)
    assert (store.runs.summaries(), store.runs.get("night")) == ([], None)
    again = store.runs.save(run)
    store.runs.mark(deleted, StoreState.COMPLETE, loaded=1, refused=0)
    store.runs.forget(deleted)
    assert store.runs.summaries() == [again]
    assert again.state is StoreState.LOADING
    assert store.runs.get("night") is not None


def test_a_run_that_is_saved_again_is_listed_once(store):
    first = store.runs.save(stored(log({cpu(): [1.0]})))
    store.runs.mark(first, StoreState.DELETING, loaded=0, refused=0)
    second = store.runs.save(stored(log({cpu("DB1"): [1.0, 2.0]}, start=START + 3600 * SECOND)))
    assert store.runs.summaries() == [second]
    run = store.runs.get("night")
    assert run is not None
    assert run.hosts == ("DB1",)


def test_a_claim_lives_as_long_as_its_holder_is_heard_of(store):
    claim = Claim("night", "h1", Work.LOADING, 'root@"build", 7')
    store.runs.claims.claim(claim)
    store.runs.claims.claim(Claim("it's, day", "h2", Work.DELETING, "x"))
    written, other = sorted(store.runs.claims.current(60), key=lambda item: item.holder)
    assert (written.run, written.work, written.who, written.alive) == ("night", Work.LOADING, claim.who, True)
    assert (other.run, other.work) == ("it's, day", Work.DELETING)
    time.sleep(0.2)
    assert not any(item.alive for item in store.runs.claims.current(0.1))
    store.runs.claims.beat(claim)
    beaten = next(item for item in store.runs.claims.current(60) if item.holder == "h1")
    assert (beaten.since, beaten.heard > written.heard) == (written.since, True)
    store.runs.claims.withdraw("h1")
    store.runs.claims.beat(claim)
    assert [item.holder for item in store.runs.claims.current(60)] == ["h2"]
    assert store.samples.series(*EVER).series == []


def test_what_is_kept_of_runs_is_no_series(store):
    store.runs.save(stored(log({cpu(): [1.0]})))
    assert store.samples.series(*EVER).series == []
    assert store.samples.hosts(*EVER) == []


def test_saving_a_run_again_replaces_it(store):
    store.runs.save(stored(log({cpu(instance=str(n)): [1.0] for n in range(4000)})))
    store.runs.save(stored(log({cpu(): [1.0]})))
    run = store.runs.get("night")
    assert run is not None
    assert run.recordings[0].series == (cpu(),)
