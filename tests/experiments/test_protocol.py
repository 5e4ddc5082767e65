import json
import warnings

import numpy as np
import pytest

from latefusion.assignment import assign_by_kmeans
from latefusion.experiments.protocol import (
    CONTENDERS,
    FULL,
    GAM,
    LAM,
    METRICS,
    OURS,
    Cell,
    Effort,
    _by_kmeans,
    _clusterings,
    _scores,
    evaluate,
    plan,
    points,
    random_state,
)
from latefusion.experiments.sources import find_sources, standardized


@pytest.fixture(scope="module")
def source():
    return find_sources(None, ["planted"], most_embedded=60).sources[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", [name for name in CONTENDERS if name != OURS])
def test_the_embedding_once_and_kmeans_again_is_the_method_fitted_again(source, method):
    """What the protocol calls a seed of a method is what the method itself does with that seed."""
    contender = CONTENDERS[method]
    seeds = [(1,), (2,)] if contender.finds_labels else [(1, 2)]
    found = []
    for some in seeds:
        for _, _, labelings in _clusterings(Cell(source, method, "label-free", "{}", some)):
            found += [labels for labels, _ in labelings]
    views = standardized(source.load())
    for seed, labels in zip((1, 2), found, strict=True):
        model = contender.estimator(n_clusters=source.n_clusters, random_state=seed).fit(views)
        expected = model.labels_
        if method in ("SB-KKM", "SC"):  # there the seed is drawn once more, for all views alike
            expected, _ = assign_by_kmeans(model.consensus_, source.n_clusters, n_init=model.n_init, random_state=seed)
        np.testing.assert_array_equal(expected, labels)


def test_ours_gets_the_views_as_they_are(source):
    cell = Cell(source, OURS, "label-free", "{}", (0,))
    ((_, _, labelings),) = _clusterings(cell)
    model = CONTENDERS[OURS].estimator(n_clusters=source.n_clusters, random_state=0)
    np.testing.assert_array_equal(labelings[0].labels, model.fit_predict(list(source.load().views.arrays)))


@pytest.mark.parametrize("method", [GAM, LAM])
def test_a_shared_grid_gives_what_its_points_give(source, method):
    (cell,) = [one for one in plan([source], [method], Effort(3, 1, 2)) if one.protocol == "oracle"]
    together = evaluate(cell)
    assert [point.parameters.keys() for point in together] == [CONTENDERS[method].grid.keys()] * len(together)
    for point in together:
        alone = CONTENDERS[method].estimator(n_clusters=source.n_clusters, **point.parameters)
        consensus = alone.fit(standardized(source.load())).consensus_
        states = [random_state(cell, point.parameters, seed) for seed in range(3)]
        again = [_by_kmeans(consensus, source.n_clusters, 1, state) for state in states]
        assert _scores(source.load().target, again) == point.scores


def test_the_oracle_is_never_below_its_mean(small_summaries):
    """The best over grid and restarts is at least the mean of any point, and the lowest-cost choice is in between."""
    for one in small_summaries:
        for metric in METRICS:
            best = one.oracle[metric]
            if CONTENDERS[one.method].finds_labels:  # there are no k-means costs to compare
                assert best.lowest_cost is None
            else:
                assert best.sample.min() <= best.lowest_cost <= best.value
            assert best.sample.mean() <= best.mean <= best.value
        assert one.oracle["accuracy"].value == max(level.best for level in one.levels)
        assert one.oracle["accuracy"].mean == max(level.mean for level in one.levels)


def test_a_method_on_single_views_gives_one_point_per_view(source):
    (cell,) = [one for one in plan([source], ["SB-KKM"], Effort(2, 1)) if one.protocol == "oracle"]
    assert [point.parameters["view"] for point in evaluate(cell)] == list(source.load().views.names)


def test_clusters_that_are_components_need_no_restarts(source):
    (cell,) = [one for one in plan([source], ["GMC"], Effort(4, 1)) if one.protocol == "oracle"]
    (point,) = evaluate(cell)
    assert len(set(point.scores["accuracy"])) == 1
    assert len(point.scores["accuracy"]) == 4
    assert point.costs == []


def test_the_plan_covers_every_point_and_seed_once(source):
    cells = plan([source], list(CONTENDERS), FULL)
    assert len(set(cells)) == len(cells)
    for method, contender in CONTENDERS.items():
        mine = [cell for cell in cells if cell.method == method and cell.protocol == "oracle"]
        assert sum(len(points(json_of(cell))) * len(cell.seeds) for cell in mine) == 50 * len(points(contender.grid))
        free = [cell for cell in cells if cell.method == method and cell.protocol == "label-free"]
        assert sorted(seed for cell in free for seed in cell.seeds) == list(range(10))
    with pytest.raises(ValueError, match=r"unknown methods \['x'\]; known are"):
        plan([source], ["x"], FULL)


def json_of(cell):
    return json.loads(cell.grid)


def test_a_thin_grid_keeps_both_ends(source):
    cells = plan([source], ["LKAM"], Effort(2, 1, 3))
    values = [json_of(cell) for cell in cells if cell.protocol == "oracle"]
    assert len(values) == 9
    assert {value["regularization"][0] for value in values} == {2.0**-15, 1.0, 2.0**15}


def test_kernels_are_taken_as_kernels(tmp_path):
    generator = np.random.default_rng(0)
    features = generator.normal(size=(30, 4)) + 3 * np.repeat(np.eye(4)[:3], 10, axis=0)
    kernel = features @ features.T
    np.savez(tmp_path / "k.npz", kernel_0=kernel, kernel_1=kernel**2, y=np.repeat(range(3), 10))
    source = find_sources(tmp_path, ["k"]).sources[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("A-MKKM", GAM, OURS):
            for cell in plan([source], [method], Effort(2, 2, 2)):
                found = evaluate(cell)
                assert len(found) > 0
                assert all(min(point.scores["accuracy"]) > 1 / 3 for point in found)


def test_every_point_of_a_grid_has_starts_of_its_own(source):
    oracle = Cell(source, GAM, "oracle", "{}", (0, 1))
    states = {random_state(oracle, {"regularization": value}, seed) for value in (1.0, 2.0) for seed in (0, 1)}
    assert len(states) == 4
    assert random_state(Cell(source, GAM, "label-free", "{}", (0,)), {}, 7) == 7
