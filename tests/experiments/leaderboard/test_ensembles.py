from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import latefusion as lf
from latefusion.baselines import CONSENSUS_METHODS
from latefusion.experiments.leaderboard import ensembles
from latefusion.experiments.leaderboard.code import method_version
from latefusion.experiments.leaderboard.ensembles import EnsembleSet, draw_labelings, ensemble_sets, table_of
from latefusion.experiments.leaderboard.evaluation import BoardCell, evaluate_cell, scores
from latefusion.experiments.leaderboard.methods import entrants, find_entrants
from latefusion.experiments.leaderboard.planning import plan
from latefusion.experiments.leaderboard.results import LimitEntry
from latefusion.experiments.leaderboard.sets import find_sets

LIMITS = LimitEntry(120.0, 6144, 3, 10_000)


@pytest.fixture(scope="module")
def ensemble(small_sets):
    (found,) = ensemble_sets(small_sets["small"])
    return found


def test_a_data_set_becomes_ensembles_with_few_and_with_more_clusters(small_sets):
    source = small_sets["small"]
    (one,) = ensemble_sets(source)  # half of three classes is less than two
    entry = one.entry
    assert (entry.name, entry.board, entry.kind) == ("small, 2 to 6 clusters", "clusterings", "clusterings")
    assert (entry.n_samples, entry.n_clusters, len(entry.views), entry.n_columns) == (40, 3, 20, 20)
    ten = replace(source, entry=replace(source.entry, n_clusters=10))
    found = list(ensemble_sets(ten))
    assert [one.lowest for one in found] == [2, 5]
    assert [one.name for one in found] == ["small, 2 to 20 clusters", "small, 5 to 20 clusters"]
    assert len({one.checksum for one in [ten, *found]}) == 3


def test_kernels_missing_views_and_many_samples_have_none(small_sets, monkeypatch):
    for name in ("kernels", "small, 30 % missing"):
        assert list(ensemble_sets(small_sets[name])) == []
    monkeypatch.setattr(ensembles, "MOST_SAMPLES", 39)
    assert list(ensemble_sets(small_sets["small"])) == []


def test_labelings_are_drawn_by_the_seed_from_standardized_columns(ensemble):
    views = ensemble.problem(1).views
    assert len(views.arrays) == 20
    assert {array.shape for array in views.arrays} == {(40, 1)}
    again, other = ensemble.problem(1).views, ensemble.problem(2).views
    assert all(np.array_equal(one, two) for one, two in zip(views.arrays, again.arrays, strict=True))
    assert not all(np.array_equal(one, two) for one, two in zip(views.arrays, other.arrays, strict=True))
    numbers = [len(np.unique(array)) for array in views.arrays]
    assert (min(numbers), max(numbers)) == (2, 6)
    table = table_of(ensemble.path, ensemble.origin)
    np.testing.assert_allclose(table, StandardScaler().fit_transform(table), atol=1e-12)
    assert table.shape == (40, 30)
    expected = KMeans(numbers[3], n_init=1, random_state=103).fit_predict(table)
    assert np.array_equal(views.arrays[3].ravel(), expected)


def test_more_columns_are_replaced_by_their_principal_components(tmp_path, monkeypatch):
    generator = np.random.default_rng(0)
    wide = generator.normal(size=(50, 8)) @ generator.normal(size=(8, 120))
    wide[3, 4] = np.nan
    np.savez(tmp_path / "wide.npz", y=np.repeat([0, 1], 25), view_0=wide, view_1=wide[:, :30])
    path = str(tmp_path / "wide.npz")
    monkeypatch.setattr(ensembles, "MOST_COLUMNS", 200)
    whole = table_of.__wrapped__(path, "wide")
    monkeypatch.setattr(ensembles, "MOST_COLUMNS", 20)
    reduced = table_of.__wrapped__(path, "wide")
    assert (whole.shape, reduced.shape) == ((50, 150), (50, 20))
    np.testing.assert_allclose(reduced @ reduced.T, whole @ whole.T, atol=1e-6)


def test_numbers_of_clusters_are_at_most_those_of_samples():
    found = draw_labelings(np.arange(4.0)[:, None], 2, 20, 0)
    assert {len(np.unique(labels)) for labels in found.values()} == {2, 3, 4}


def test_methods_of_clusterings_and_of_views_have_their_own_boards(ensemble, small_sets):
    cells = plan([ensemble, small_sets["small"], small_sets["kernels"]], find_entrants(), LIMITS)
    boards = {}
    for cell in cells:
        boards.setdefault(cell.source.entry.kind, set()).add(cell.method)
    ours = {"LateFusionClustering", "LF-MVC-GAM", "LF-MVC-LAM"}
    assert boards["clusterings"] == {"ConsensusClustering", *CONSENSUS_METHODS, *ours}
    assert boards["features"] == boards["kernels"] == {*entrants()} - {"ConsensusClustering", *CONSENSUS_METHODS}
    assert {cell.seeds for cell in cells if cell.source is ensemble} == {(0, 1, 2)}  # also of methods without a seed


def test_the_code_of_the_ensembles_counts_for_this_board_only(ensemble, small_sets):
    codes = {
        cell.place[0]: cell.code
        for cell in plan([ensemble, small_sets["small"]], find_entrants(["LF-MVC-GAM"]), LIMITS)
    }
    module = "latefusion.estimators.global_alignment"
    assert codes["complete"] == method_version(module)
    assert codes["clusterings"] == method_version(module, "latefusion.experiments.leaderboard.ensembles")
    assert codes["clusterings"] != codes["complete"]


@pytest.mark.parametrize("method", ["ConsensusClustering", "LF-MVC-GAM", *CONSENSUS_METHODS])
def test_a_cell_has_the_scores_of_the_consensus_of_every_ensemble(ensemble, method):
    cell = BoardCell(ensemble, method, (0, 1), 60.0, 1024, "abc")
    runs = list(evaluate_cell(cell))
    for run in runs:
        problem = ensemble.problem(run.seed)
        labels = entrants()[method].configured(3, "clusterings", run.seed).fit_predict(problem.views)
        assert run[1:4] == scores(problem.target, labels)
        assert run.acc > 0.6


def test_consensus_is_that_of_the_function(ensemble):
    problem = ensemble.problem(0)
    labels = entrants()["ConsensusClustering"].configured(3, "clusterings", 0).fit_predict(problem.views)
    expected = lf.consensus([array.ravel() for array in problem.views.arrays], 3, random_state=0).labels_
    assert np.array_equal(labels, expected)


def test_embedded_sets_have_ensembles():
    found = find_sets([], ["clusterings"]).sets
    assert all(isinstance(one, EnsembleSet) for one in found)
    names = ["digits, 2 to 20 clusters", "digits, 5 to 20 clusters", "breast_cancer, 2 to 4 clusters"]
    assert sorted(one.name for one in found) == sorted(names)
