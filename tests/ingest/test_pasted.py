"""Logs behind other text: where they are looked for, and where they are not."""

import pytest

from ingest.read import read_log
from ingest.reading import Reading
from model.errors import Unusable

LOG = (
    '"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"03/10/2024 01:59:30.120","1"\n"03/10/2024 01:59:40.120","x"\n'
)
TYPEPERF = LOG.replace(" (UTC)(0)", "")


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "log.txt"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_keep_their_numbers(tmp_path, encoding):
    log = read_log(written(tmp_path, "> type log.csv\n\n" + LOG, encoding))
    assert [(r.line, r.count) for r in log.remarks] == [(1, 1), (5, 1)]


def test_it_is_looked_for_in_the_first_lines_only(tmp_path):
    assert read_log(written(tmp_path, "a\n" * 50 + LOG)).remarks[0].count == 50
    with pytest.raises(Unusable, match='it begins with "a"'):
        read_log(written(tmp_path, "a\n" * 51 + LOG))


def test_a_log_behind_another_is_not_taken_for_the_one_asked_for(tmp_path):
    with pytest.raises(Unusable, match="is not typeperf, but PDH-CSV"):
        read_log(written(tmp_path, LOG + TYPEPERF), Reading(format="typeperf"))


def test_a_log_of_another_format_than_asked_for_is_refused(tmp_path):
    with pytest.raises(Unusable, match=r"is not sadf, but PDH-CSV; 1 line before the header"):
        read_log(written(tmp_path, "> type log.csv\n" + LOG), Reading(format="sadf"))


def test_a_header_that_is_broken_stays_unusable_where_widths_do_not_fit(tmp_path):
    broken = LOG.replace('"\\\\H', '\n"\\\\H').replace(',"1"', ',"1","2"').replace(',"x"', ',"3","4"')
    with pytest.raises(Unusable, match=r"the header has 2 cells but the row has 3.*; the header goes on in line 2"):
        read_log(written(tmp_path, broken))


def test_a_header_cut_short_does_not_swallow_rows(tmp_path):
    header, _, rows = LOG.partition("\n")
    log = read_log(written(tmp_path, f"{header[:-1]}\n{rows}"))
    assert len(log.times) == 2
    assert "the header is cut short" in str(log.remarks[0])


def test_what_typeperf_says_at_its_end_is_told_as_that_and_not_as_damage(tmp_path):
    rows = "".join(f'"03/10/2024 01:{n // 60:02}:{n % 60:02}.120","{n}"\n' for n in range(3000))
    log = read_log(written(tmp_path, f"{TYPEPERF.partition(chr(10))[0]}\n{rows}Bitte warten, es dauert...\n\nFertig."))
    assert len(log.times) == 3000
    assert [(r.line, r.count, r.text) for r in log.remarks if r.line] == [
        (3002, 2, '2 lines after the last row: left out ("Bitte warten, es dauert...")')
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Fertig\n" * 11,  # too many
        'Fertig","5"\n',
        "Fertig,5\n",
        "Fertig, -5\n",
        "\\\\H\\System\n",
        "Fertig\n" + TYPEPERF.splitlines()[1] + "\n",
    ],
)
def test_lines_that_may_be_torn_rows_are_not_taken_for_what_typeperf_says(tmp_path, said):
    log = read_log(written(tmp_path, TYPEPERF + TYPEPERF.splitlines(keepends=True)[1] * 12 + said))
    assert not any("after the last row" in remark.text for remark in log.remarks)


def test_only_typeperf_says_anything_at_its_end(tmp_path):
    log = read_log(written(tmp_path, LOG + "Fertig.\n"))
    assert '"Fertig." is no row: left out' in {remark.text for remark in log.remarks}


@pytest.mark.parametrize("between", ["run 2", "# a\n\nb\nc\nd", "Fertig.\nGut, das.", "> typeperf -sc 1", "Läuft"])
@pytest.mark.parametrize("log", [LOG, TYPEPERF], ids=["PDH-CSV", "typeperf"])
def test_words_between_recordings_are_no_reason_to_doubt_their_rows(tmp_path, log, between):
    later = log.replace(" 01:", " 02:").replace("x", "4")
    both = read_log(written(tmp_path, f"{log.replace('x', '3')}{between}\n{later}"))
    assert [column.to_list() for column in both.columns] == [[1, 3, 1, 4]]
    lines = [at for at, line in enumerate(between.split("\n"), 4) if line]
    assert sorted(r.line for r in both.remarks if r.line) == [*lines, 4 + between.count("\n") + 1]


def test_of_recordings_over_and_over_only_the_first_are_told(tmp_path):
    log = read_log(written(tmp_path, (TYPEPERF + "Exiting, please wait...\n") * 500))
    assert len(log.times) == 1000
    assert len(log.remarks) < 30
