"""The real servers that tests run against."""


def test_a_bucket_is_empty_and_alone(influxdb, bucket):
    assert bucket.url == influxdb.url
    assert bucket.bucket != influxdb.bucket
    assert bucket.fresh().bucket != bucket.bucket
    assert len({bucket.token, bucket.telegraf_token, bucket.grafana_token, bucket.admin_token}) == 4


def test_the_influxql_parser_tells_what_does_not_parse(influxql):
    good, bad = influxql(['SELECT mean("a") FROM "b" WHERE time > 5', "SELEC x"])
    assert good is None
    assert "expected SELECT" in bad


def test_windows_telegraf_refuses_an_option_it_does_not_know(telegraf_windows, tmp_path):
    configuration = tmp_path / "windows.conf"
    configuration.write_text("[[inputs.win_perf_counters]]\n  UseWildcardExpansion = true\n[[outputs.discard]]\n")
    done = telegraf_windows(configuration)
    assert done.returncode == 1
    assert "UseWildcardExpansion" in done.stdout
    configuration.write_text("[[inputs.win_perf_counters]]\n  UseWildcardsExpansion = true\n[[outputs.discard]]\n")
    done = telegraf_windows(configuration)
    assert done.returncode == 0, done.stdout
