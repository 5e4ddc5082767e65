import shutil

import pytest

from latefusion.datasets.catalogue import EMBEDDED
from latefusion.experiments.leaderboard import sets
from latefusion.experiments.leaderboard.results import SetEntry, ViewEntry
from latefusion.experiments.leaderboard.sets import find_sets

FROM_SMALL = {"small, mask 0.5", "small, 30 % missing", "small, 50 % missing", "small, 70 % missing"}


def by_board(found):
    boards = {}
    for one in found.sets:
        boards.setdefault(one.entry.board, set()).add(one.name)
    return boards


def test_sets_are_sorted_to_boards_by_size_and_missing_rows(data_folder):
    only = ["small", "kernels", "gaps", "larger"]
    boards = by_board(find_sets([data_folder], ["complete", "missing", "large"], only=only, max_samples=50))
    assert boards["complete"] == {"small", "kernels"}
    assert boards["large"] == {"larger"}
    assert boards["missing"] == {"gaps", *FROM_SMALL, *(f"larger, {rate} % missing" for rate in (30, 50, 70))}


def test_entries_describe_the_data(data_folder):
    found = {
        one.name: one.entry for one in find_sets([data_folder], ["complete", "missing"], only=["small", "gaps"]).sets
    }
    views = tuple(ViewEntry(f"view_{position}", 10) for position in range(3))
    assert found["small"] == SetEntry("small", "small", "complete", 40, 3, "features", views, 0.0)
    assert found["small, mask 0.5"].missing == pytest.approx(10 / 120)
    assert found["gaps"].missing == pytest.approx(0.2)
    assert found["gaps"].n_clusters == 3
    assert found["small"].n_columns == 30


def test_checksums_tell_the_sets_of_one_file_apart(data_folder):
    found = find_sets([data_folder], ["complete", "missing"], only=["small"]).sets
    assert len({one.checksum for one in found}) == len(found) == 1 + len(FROM_SMALL)


def test_one_set_of_a_file_can_be_chosen(data_folder):
    found = find_sets([data_folder], ["complete", "missing"], only=["small, 30 % missing"]).sets
    assert [one.name for one in found] == ["small, 30 % missing"]


def test_files_without_classes_are_refused_and_the_embedded_sets_are_added(data_folder):
    found = find_sets([data_folder / "bare.npz", data_folder / "unknown.npz"], ["complete"])
    assert by_board(found)["complete"] == set(EMBEDDED)
    assert set(found.refused) == {"bare", "unknown"}
    for name, reason in found.refused.items():
        assert f"{name}.npz' has no classes" in reason


def test_large_data_sets_are_not_drawn_from(data_folder, monkeypatch):
    monkeypatch.setattr(sets, "MOST_SAMPLES_DRAWN", 39)
    found = find_sets([data_folder], ["missing"], only=["small"]).sets
    assert [one.name for one in found] == ["small, mask 0.5"]


def test_wrong_names_and_paths_are_errors(data_folder, tmp_path):
    with pytest.raises(ValueError, match=r"Unknown data set 'other'\. Available are digits, breast_cancer, bare"):
        find_sets([data_folder], ["complete"], only=["other"])
    with pytest.raises(ValueError, match="Unknown data set 'small, 20 % missing'"):
        find_sets([data_folder], ["missing"], only=["small, 20 % missing"])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        find_sets([tmp_path / "nowhere"], ["complete"])
    with pytest.raises(FileNotFoundError, match="has no data set that can be read"):
        find_sets([tmp_path], ["complete"])
    shutil.copy(data_folder / "small.npz", tmp_path)
    with pytest.raises(ValueError, match=r"small\.npz' has the name of .*small\.npz"):
        find_sets([data_folder, tmp_path], ["complete"])
    shutil.move(tmp_path / "small.npz", tmp_path / "digits.npz")
    with pytest.raises(ValueError, match="has the name of 'an embedded data set'"):
        find_sets([tmp_path], ["complete"])


def test_a_synthetic_set_is_large():
    (one,) = find_sets([], ["large"], only=["planted_100000"]).sets
    assert one.n_samples == 100_000
    assert len(one.problem(0).views) == len(one.problem(0).target) == 100_000
