import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from latefusion.baselines import METHODS
from latefusion.experiments.leaderboard import evaluation
from latefusion.experiments.leaderboard.evaluation import BoardCell, evaluate_cell, scores
from latefusion.metrics import clustering_accuracy


def cell_of(source, method="concat-kmeans", seeds=(0, 1, 2), seconds=60.0):
    return BoardCell(source, method, seeds, seconds, 1024, "abc")


def test_a_cell_has_one_run_per_seed_with_the_scores_of_a_fit(small_sets):
    cell = cell_of(small_sets["small"])
    runs = list(evaluate_cell(cell))
    assert [run.seed for run in runs] == [0, 1, 2]
    problem = cell.source.problem(0)
    for run in runs:
        labels = METHODS["concat-kmeans"](3, random_state=run.seed).fit_predict(problem.views)
        assert (run.acc, run.nmi, run.ari) == scores(problem.target, labels)
        assert 0 < run.seconds < 10
        assert 0 < run.cpu_seconds < 10


def test_kernels_are_given_as_kernels(small_sets):
    cell = cell_of(small_sets["kernels"], "SimpleMKKM", (0,))
    problem = cell.source.problem(0)
    labels = METHODS["SimpleMKKM"](3, random_state=0, similarity="precomputed").fit_predict(problem.views)
    assert next(evaluate_cell(cell))[1:4] == scores(problem.target, labels)


@pytest.mark.filterwarnings("ignore:Only .* samples of view")
def test_rows_are_removed_anew_for_every_seed(small_sets):
    cell = cell_of(small_sets["small, 30 % missing"], "NEMO")
    for run in evaluate_cell(cell):
        problem = cell.source.problem(run.seed)
        labels = METHODS["NEMO"](3, random_state=run.seed).fit_predict(problem.views)
        assert run[1:4] == scores(problem.target, labels)


def test_a_seed_begins_only_if_the_time_is_enough(small_sets, monkeypatch):
    """By a clock on which every call takes ten seconds: three fits take at most 30, 50 and 70 seconds."""
    ticks = iter(range(0, 10_000, 10))
    monkeypatch.setattr(evaluation.time, "monotonic", lambda: next(ticks))
    for seconds, number in ((15.0, 1), (25.0, 2), (35.0, 3), (1000.0, 5)):
        cell = cell_of(small_sets["small"], seeds=tuple(range(5)), seconds=seconds)
        assert len(list(evaluate_cell(cell))) == number


def test_scores_are_those_of_scikit_learn_without_unknown_classes():
    generator = np.random.default_rng(0)
    target, labels = generator.integers(-1, 3, 50), generator.integers(0, 4, 50)
    true, found = target[target >= 0], labels[target >= 0]
    assert scores(target, labels) == pytest.approx(
        (
            clustering_accuracy(true, found),
            normalized_mutual_info_score(true, found, average_method="arithmetic"),
            adjusted_rand_score(true, found),
        )
    )


def test_wrong_labels_are_an_error():
    with pytest.raises(ValueError, match=r"labels of shape \(2,\) for 3 samples"):
        scores(np.array([0, 1, 1]), [0, 1])


def test_keys_tell_cells_apart(small_sets):
    from dataclasses import replace

    cell = cell_of(small_sets["small"])
    others = [
        replace(cell, source=small_sets["small, 30 % missing"]),
        replace(cell, source=replace(cell.source, checksum="other data")),
        replace(cell, method="NEMO"),
        replace(cell, seeds=(0,)),
        replace(cell, seconds=1.0),
        replace(cell, memory=1),
        replace(cell, code="other code"),
    ]
    assert len({one.key for one in [cell, *others, replace(cell)]}) == 1 + len(others)
    assert cell.place == ("complete", "small", "concat-kmeans")
