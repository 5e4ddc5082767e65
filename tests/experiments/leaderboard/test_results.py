import dataclasses
import json

import pytest

from latefusion.experiments.leaderboard.results import (
    NOT_RUN,
    CodeEntry,
    failed_cell,
    merge_leaderboards,
    read_leaderboard,
    write_leaderboard,
)
from tests.experiments.leaderboard.boards import cell_entry, leaderboard, oracle_entry, set_entry

BOARD = leaderboard(
    {"SNF": {"mfeat": [0.5, 0.625], "orl": "time limit 120 s"}, "GMC": {"mfeat": 0.25, "orl": 0.75}},
    oracle=[oracle_entry("mfeat", "SNF", 0.75)],
)


def test_what_is_written_is_read(tmp_path):
    path = write_leaderboard(tmp_path / "new" / "leaderboard.json", BOARD)
    assert read_leaderboard(path) == BOARD


def test_the_file_is_ascii_json_with_the_keys_of_the_schema(tmp_path):
    text = write_leaderboard(tmp_path / "leaderboard.json", BOARD).read_text()
    content = json.loads(text)
    assert text.isascii()
    assert len(text.splitlines()) == 2 + 5 + 4 * 2 + len(BOARD.sets + BOARD.methods + BOARD.cells + BOARD.oracle)
    assert list(content) == ["format", "code", "limits", "machine", "created", "sets", "methods", "cells", "oracle"]
    assert content["code"] == {"version": "1.0+abc", "commit": "0" * 40}
    assert content["limits"] == {"seconds": 120.0, "memory_mib": 6144, "seeds": 5, "max_samples": 10000}
    assert content["sets"][0] == {
        "name": "mfeat",
        "title": "Mfeat",
        "board": "complete",
        "n_samples": 100,
        "n_clusters": 3,
        "kind": "features",
        "views": [{"name": "a", "columns": 4}, {"name": "β", "columns": 5}],
        "missing": 0.0,
    }
    assert content["methods"][0] == {
        "name": "SNF",
        "class": "latefusion.baselines.SNF",
        "year": 2020,
        "family": "comparison method",
        "page": "methods/snf.html",
    }
    assert content["cells"][0] == {
        "board": "complete",
        "set": "mfeat",
        "method": "SNF",
        "seeds": [0, 1],
        "acc": [0.5, 0.625],
        "nmi": [0.25, 0.3125],
        "ari": [0.25, 0.3125],
        "seconds": 1.5,
        "cpu_seconds": 0.75,
        "peak_mib": 12.5,
        "reason": None,
    }
    assert content["cells"][1]["reason"] == "time limit 120 s"
    assert content["oracle"][0]["parameters"] == {"n_neighbors": 5, "kernel": "linear"}


def change(content, where, value):
    *path, last = where
    for step in path:
        content = content[step]
    if value is KeyError:
        del content[last]
    else:
        content[last] = value


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        (["format"], 2, "format is 2, but this version reads format 1"),
        (["cells", 1, "acc"], KeyError, r"cells\[1\] has no key 'acc'"),
        (["cells", 1, "more"], 1, r"cells\[1\] has the unknown key 'more'"),
        (["cells", 0, "acc", 1], "high", r"cells\[0\].acc\[1\] must be of type number, got 'high'"),
        (["cells", 0, "acc"], [0.5], r"cells\[0\] has lists of different lengths"),
        (["cells", 0, "reason"], "slow", r"cells\[0\] must have either scores or a reason"),
        (["cells", 1, "reason"], None, r"cells\[1\] must have either scores or a reason"),
        (["cells", 0, "set"], "other", r"cells\[0\] has the set 'other', which the board 'complete' lacks"),
        (["oracle", 0, "method"], "other", r"oracle\[0\] has the unknown method 'other'"),
        (["cells", 0, "set"], "orl", r"cells contains \('complete', 'orl', 'SNF'\) more than once"),
        (["sets", 0, "board"], "best", r"sets\[0\].board is 'best', but must be one of"),
        (["sets", 0, "n_samples"], True, r"sets\[0\].n_samples must be of type int, got True"),
        (["methods", 0, "family"], "theirs", r"methods\[0\].family is 'theirs'"),
        (["methods", 0, "year"], "2020", r"methods\[0\].year must be of type int"),
        (["cells"], {}, "cells must be of type list"),
        (["machine"], float("nan"), "it contains NaN"),
    ],
)
def test_a_file_that_breaks_the_schema_is_refused_by_the_entry(tmp_path, where, value, words):
    path = write_leaderboard(tmp_path / "leaderboard.json", BOARD)
    content = json.loads(path.read_text())
    change(content, where, value)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=words) as error:
        read_leaderboard(path)
    assert str(error.value).startswith(f"{str(path)!r} is not a result file of `latefusion leaderboard`: ")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "leaderboard.json"
    for text in ("", "[]", "{}", '{"code": 1}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="is not a result file"):
            read_leaderboard(path)


def test_a_board_that_breaks_the_schema_is_not_written(tmp_path):
    wrong = dataclasses.replace(BOARD, cells=[cell_entry("nowhere", "SNF", 0.5)])
    with pytest.raises(ValueError, match="nowhere"):
        write_leaderboard(tmp_path / "leaderboard.json", wrong)
    assert not (tmp_path / "leaderboard.json").exists()


def test_merging_parts_gives_the_whole():
    parts = [
        dataclasses.replace(BOARD, methods=BOARD.methods[:1], cells=BOARD.cells[:2]),
        dataclasses.replace(BOARD, methods=BOARD.methods[1:], cells=BOARD.cells[2:], oracle=[]),
    ]
    assert merge_leaderboards([BOARD]) == merge_leaderboards([BOARD, BOARD])
    merged = merge_leaderboards(parts)
    assert {cell.key: cell for cell in merged.cells} == {cell.key: cell for cell in BOARD.cells}
    assert (merged.sets, merged.methods, merged.oracle) == (BOARD.sets, BOARD.methods, BOARD.oracle)


def test_merging_keeps_the_result_with_most_seeds_and_prefers_a_reason_to_none():
    key = BOARD.cells[0].key
    cells = [failed_cell(key, NOT_RUN), failed_cell(key, "memory limit"), cell_entry("mfeat", "SNF", 0.5)]
    best = BOARD.cells[0]

    def merged(*some):
        boards = [dataclasses.replace(BOARD, cells=[one]) for one in some]
        return next(cell for cell in merge_leaderboards(boards).cells if cell.key == key)

    assert merged(*cells[:2]) == merged(*reversed(cells[:2])) == cells[1]
    assert merged(*cells) == merged(*reversed(cells)) == cells[2]
    assert merged(best, *cells) == merged(*cells, best) == best


def test_a_pair_that_no_file_has_was_not_run():
    one = leaderboard({"SNF": {"mfeat": 0.5}})
    other = leaderboard({"GMC": {"orl": 0.5}})
    cells = {cell.key[1:]: cell.reason for cell in merge_leaderboards([one, other]).cells}
    expected = {("mfeat", "SNF"): None, ("mfeat", "GMC"): NOT_RUN, ("orl", "SNF"): NOT_RUN, ("orl", "GMC"): None}
    assert cells == expected


def test_results_of_other_code_limits_or_data_are_not_merged():
    other = dataclasses.replace(BOARD, code=CodeEntry("1.0+abd", None))
    with pytest.raises(ValueError, match=r"different code, .*abc.* and .*abd"):
        merge_leaderboards([BOARD, other])
    other = dataclasses.replace(BOARD, limits=dataclasses.replace(BOARD.limits, seconds=60.0))
    with pytest.raises(ValueError, match="different limits"):
        merge_leaderboards([BOARD, other])
    other = dataclasses.replace(BOARD, sets=[set_entry("mfeat", n_samples=99)], cells=[], oracle=[])
    with pytest.raises(ValueError, match="different data sets of the same name 'mfeat'"):
        merge_leaderboards([BOARD, other])


def test_optional_keys_are_written_only_where_they_are_known(tmp_path):
    known = dataclasses.replace(
        BOARD,
        sets=[dataclasses.replace(one, checksum="f" * 64) for one in BOARD.sets],
        cells=[dataclasses.replace(cell, code="abc") for cell in BOARD.cells],
    )
    path = write_leaderboard(tmp_path / "leaderboard.json", known)
    content = json.loads(path.read_text())
    assert (content["sets"][0]["checksum"], content["cells"][0]["code"]) == ("f" * 64, "abc")
    assert read_leaderboard(path) == known


def test_a_checksum_that_one_file_lacks_is_taken_from_the_other():
    def with_checksum(value):
        return dataclasses.replace(BOARD, sets=[dataclasses.replace(one, checksum=value) for one in BOARD.sets])

    for boards in ([BOARD, with_checksum("f")], [with_checksum("f"), BOARD]):
        assert {one.checksum for one in merge_leaderboards(boards).sets} == {"f"}
    with pytest.raises(ValueError, match="different data sets of the same name 'mfeat'"):
        merge_leaderboards([with_checksum("e"), with_checksum("f")])


def test_an_installed_package_without_a_commit_has_the_same_code():
    """The hash of the source files decides."""
    installed = dataclasses.replace(BOARD, code=dataclasses.replace(BOARD.code, commit=None))
    assert merge_leaderboards([installed, BOARD]).code == merge_leaderboards([BOARD, installed]).code == BOARD.code
    assert merge_leaderboards([installed]).code.commit is None
