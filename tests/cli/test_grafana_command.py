"""`plimsoll grafana`, where it meets what others wrote."""


def test_what_is_no_text_is_not_ours(plimsoll, tmp_path):
    folder = tmp_path / "rules" / "grafana"
    (folder / "folder.yaml").mkdir(parents=True)
    (folder / "odd.yaml").write_bytes(b"\xff\xfe")
    assert plimsoll("grafana", "export", "--out", tmp_path).status == 0
    assert (folder / "odd.yaml").read_bytes() == b"\xff\xfe"
