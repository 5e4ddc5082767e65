import numpy as np
import pytest

from latefusion.experiments.leaderboard.problems import class_codes, load_data, mask_of_seed


def test_classes_are_numbered_and_negative_ones_are_unknown():
    assert class_codes([3, -1, 7, 3]).tolist() == [0, -1, 1, 0]
    assert class_codes([3.0, -1.0, 7.0]).tolist() == [0, -1, 1]
    assert class_codes(["b", "a", "b"]).tolist() == [1, 0, 1]
    assert class_codes([-1, -1]).tolist() == [-1, -1]


def test_views_are_given_as_they_are_in_the_file(small_sets):
    for name in ("small", "kernels"):
        one = small_sets[name]
        problem, data = one.problem(0), load_data(one.path, one.origin)
        for given, stored in zip(problem.views.arrays, data.views.arrays, strict=True):
            assert given.dtype == stored.dtype
            assert (given == stored).all()
        assert (problem.target == data.target).all()


@pytest.mark.parametrize("rate", [30, 50, 70])
def test_rows_are_drawn_by_the_seed(small_sets, rate):
    one = small_sets[f"small, {rate} % missing"]
    for seed in (0, 1):
        mask = mask_of_seed(40, 3, rate / 100, seed)
        assert (one.problem(seed).views.mask == mask).all()
    assert (one.problem(0).views.mask != one.problem(1).views.mask).any()
    assert 1 - one.problem(0).views.mask.mean() == pytest.approx(one.entry.missing)


def test_a_published_mask_does_not_depend_on_the_seed(small_sets):
    one = small_sets["small, mask 0.5"]
    with np.load(one.path) as archive:
        assert (one.problem(0).views.mask == archive["mask_0.5"]).all()
    assert (one.problem(0).views.mask == one.problem(3).views.mask).all()
