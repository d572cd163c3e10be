"""plimsoll.toml is checked against the logs and against the possible values of counters."""

import pytest

MB = 2**20
CPUS = {"\\Processor(" + str(index) + ")\\% Processor Time": 20 for index in (*range(8), "_Total")}
MEMORY = {r"\Memory\Available MBytes": 300}
DISK = {r"\PhysicalDisk(0 C:)\Avg. Disk sec/Read": 0.002, r"\PhysicalDisk(0 C:)\Disk Reads/sec": 50}


@pytest.fixture
def reviewed(plimsoll, tmp_path):
    """Reviews a folder with a log of half an hour, of constant counters, and these settings."""

    def review(counters, settings, *options):
        rows = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(f'"\\\\WEB1{path}"' for path in counters)])]
        for at in range(181):
            stamp = f"01/15/2026 10:{at // 6:02}:{at % 6 * 10:02}.000"
            rows.append(",".join(f'"{cell}"' for cell in (stamp, *counters.values())))
        (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        (tmp_path / "plimsoll.toml").write_text(settings, encoding="utf-8")
        return plimsoll("review", tmp_path, *options)

    return review


@pytest.mark.parametrize(
    ("counters", "fact", "message"),
    [
        (CPUS, "processors = 4", "processors: 4 processors, but 8 were recorded"),
        (
            MEMORY,
            "memory_mb = 16",
            "memory_mb: 16 MB of memory, but 300 MB were available; did you mean 16384 (MB)?",
        ),
    ],
)
def test_facts_that_the_log_contradicts_are_errors(reviewed, counters, fact, message):
    done = reviewed(counters, f"[hosts.WEB1]\n{fact}\n")
    assert done.status == 2
    assert done.err.strip().endswith(f"plimsoll.toml: hosts.WEB1.{message}")


def test_a_selection_of_the_processors_is_no_contradiction(reviewed):
    assert reviewed(CPUS, "[hosts.WEB1]\nprocessors = 64\n").status == 0


def test_an_instance_that_no_log_has_is_a_doubt(reviewed):
    done = reviewed(CPUS | DISK, '[hosts.WEB1.instances."7 X:"]\nspindles = 4\n')
    assert done.out.startswith("Not known. ")
    assert 'no log has "7 X:" of WEB1, which plimsoll.toml names.' in done.out


@pytest.mark.parametrize(
    ("rule", "setting", "message"),
    [
        ("cpu-busy", "for = 5", 'for: 5 has no unit; write "5s" or "5m"'),
        (
            "windows-disk-read-latency",
            'healthy = "<= 30"',
            'healthy: "<= 30" does not name its unit; write "<= 30 ms" (documented: "<= 25 ms")',
        ),
        (
            "cpu-busy",
            'healthy = "<= 100"',
            'healthy: "<= 100" can never be crossed: Processor time is at most 100 %; to switch the rule off, write off = true',
        ),
    ],
)
def test_settings_without_units_and_limits_that_are_never_crossed_are_refused(reviewed, rule, setting, message):
    done = reviewed(CPUS, f'[rules.{rule}]\n{setting}\nreason = "ours"\n')
    assert done.status == 2
    assert message in done.err


def test_the_headline_says_which_limits_are_not_the_documented_ones(reviewed):
    done = reviewed(CPUS, '[rules.cpu-busy]\nhealthy = "< 95"\nreason = "ours"\n')
    assert "Also: plimsoll.toml changes 1 limit: cpu-busy." in done.out.splitlines()
