"""LF-MVC-LAM: neighbourhoods, as fractions and counts."""

import numpy as np
import pytest

import latefusion as lf


@pytest.mark.parametrize("problem", ["synth", "digits"])
def test_from_golden_kernels(golden, problem):
    data, reference = golden(f"problem_{problem}"), golden(f"lfmvc_lam_fixed_{problem}")
    for t, fraction in enumerate(reference["taus"], start=1):
        model = lf.LocalAlignmentClustering(
            int(data["k"]),
            regularization=4.0,
            neighborhood=float(fraction),
            partition=lf.PrecomputedPartition(standardize=False),
            random_state=0,
        ).fit(list(data["K"]))
        assert model.objective_[-1] >= 0.98 * reference[f"t{t}_l3_obj"].ravel()[-1]
        np.testing.assert_array_equal(model.neighbor_counts_[:-1], reference[f"t{t}_counts"])
        np.testing.assert_array_equal(model.neighbor_counts_[-1], reference[f"t{t}_counts0"].ravel())


def test_counts_add_up_and_fraction_equals_count():
    data = lf.datasets.make_views(50, 3, random_state=0)
    fraction = lf.LocalAlignmentClustering(3, neighborhood=0.3, random_state=0).fit(data.views)
    count = lf.LocalAlignmentClustering(3, neighborhood=15, random_state=0).fit(data.views)
    np.testing.assert_array_equal(fraction.neighbor_counts_, count.neighbor_counts_)
    np.testing.assert_array_equal(fraction.neighbor_counts_.sum(axis=1), 50 * 15)
    np.testing.assert_array_equal(fraction.labels_, count.labels_)


def test_everybody_a_neighbour_is_global_alignment():
    data = lf.datasets.make_views(60, 3, random_state=0)
    local = lf.LocalAlignmentClustering(3, neighborhood=1.0, random_state=0).fit(data.views)
    overall = lf.GlobalAlignmentClustering(3, random_state=0).fit(data.views)
    np.testing.assert_array_equal(local.neighbor_counts_, 59)
    np.testing.assert_allclose(local.consensus_, overall.consensus_, atol=1e-10)
    np.testing.assert_allclose(local.objective_, overall.objective_ * 59 / 60, rtol=1e-10)


@pytest.mark.parametrize("neighborhood", [0, 0.0, 1.5, -3, "all"])
def test_bad_neighborhoods_are_refused(neighborhood):
    data = lf.datasets.make_views(30, 3, random_state=0)
    with pytest.raises(ValueError, match="neighborhood"):
        lf.LocalAlignmentClustering(3, neighborhood=neighborhood).fit(data.views)
