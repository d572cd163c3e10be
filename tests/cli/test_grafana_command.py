"""`plimsoll grafana export` into folders that have other files."""


def test_what_is_no_text_is_not_ours(plimsoll, tmp_path):
    folder = tmp_path / "rules" / "grafana"
    (folder / "folder.yaml").mkdir(parents=True)
    (folder / "odd.yaml").write_bytes(b"\xff\xfe")
    assert plimsoll("grafana", "export", "--only", "linux", "--out", tmp_path).status == 0
    assert (folder / "odd.yaml").read_bytes() == b"\xff\xfe"


def test_dashboards_for_prometheus(plimsoll, tmp_path):
    """Dashboards without any panel are left out, and each refused panel is named."""
    folder = tmp_path / "dashboards" / "grafana" / "prometheus"
    entries = (
        "grafana",
        "export",
        "--data-source",
        "prometheus",
        "--only",
        "linux",
        "--interval",
        "30s",
        "--out",
        tmp_path,
    )
    folder.mkdir(parents=True)
    (folder / "own.json").write_text("{}")
    done = plimsoll(*entries)
    assert done.status == 0
    assert "not exported: dashboard runs: runs are not in Prometheus" in done.err
    assert {"cpu.json", "own.json"} < {path.name for path in folder.iterdir()}
    assert not (folder / "active-directory.json").exists()
    assert '"interval": "30s"' in (folder / "cpu.json").read_text()
    assert not (tmp_path / "rules").exists()


def test_what_is_for_alerts_over_influxdb_is_refused_for_prometheus(plimsoll, tmp_path):
    entries = ("grafana", "export", "--data-source", "prometheus", "--out", tmp_path)
    for result, why in (
        (("--email", "ops@example.org"), "Alertmanager has its own"),
        (("--interval", "1500ms"), "whole seconds"),
    ):
        done = plimsoll(*entries, *result)
        assert (done.status, why in done.err) == (2, True)
