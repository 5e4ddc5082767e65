"""Samples that lack views: found where they are, refused where nothing can be fused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import latefusion as lf
from latefusion import GlobalAlignmentClustering, LateFusionClustering, LocalAlignmentClustering, Views
from latefusion.validation import InputRules, read_views
from latefusion.validation.holes import can_be_fused, check_holes, check_some_view, empty_rows

generator = np.random.default_rng(0)
A, B, C = (generator.standard_normal((12, width)) for width in (4, 3, 2))
IDS = [f"s{i}" for i in range(12)]
RULES = InputRules("Test", missing=True)
OURS = (GlobalAlignmentClustering, LocalAlignmentClustering, LateFusionClustering)


def without(view, rows):
    changed = view.copy()
    changed[rows] = np.nan
    return changed


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_only_rows_without_any_number_are_empty(kind):
    view = without(A, [2, 7])
    view[4, 1] = view[5, 0] = np.nan
    assert np.flatnonzero(empty_rows(kind(view))).tolist() == [2, 7]


def test_a_sparse_row_of_zeros_is_not_empty():
    assert not empty_rows(sp.csr_array((3, 4))).any()


def test_nan_rows_a_mask_and_absent_ids_are_equivalent():
    mask = np.ones((12, 2), dtype=bool)
    mask[[2, 7], 0] = mask[11, 1] = False
    arrays = [without(A, [2, 7]), without(B, [11])]
    frames = [pd.DataFrame(A, index=IDS).drop(["s2", "s7"]), pd.DataFrame(B, index=IDS).drop(["s11"])]
    found = {
        "NaN rows": read_views(arrays, RULES)[0],
        "mask": read_views(Views([A, B], mask=mask), RULES)[0],
        "both": read_views(Views([A, arrays[1]], mask=mask), RULES)[0],
        "sparse": read_views([sp.csr_array(one) for one in arrays], RULES)[0],
    }
    for views in found.values():
        np.testing.assert_array_equal(views.mask, mask)
        for one, view, observed in zip(views.arrays, (A, B), mask.T, strict=True):
            dense = one.toarray() if sp.issparse(one) else one
            np.testing.assert_array_equal(dense, np.where(observed[:, None], view, 0.0))
    joined = read_views(frames, RULES)[0]
    order = [IDS.index(one) for one in joined.sample_ids]
    assert sorted(order) == list(range(12))
    np.testing.assert_array_equal(joined.mask, mask[order])
    np.testing.assert_array_equal(joined.arrays[0], found["mask"].arrays[0][order])
    np.testing.assert_array_equal(joined.arrays[1], found["mask"].arrays[1][order])


def test_complete_views_have_no_mask():
    assert read_views([A, B], RULES)[0].mask is None
    frames = [pd.DataFrame(A, index=IDS), pd.DataFrame(B, index=IDS).iloc[::-1]]
    assert read_views(frames, RULES)[0].mask is None


def test_row_numbers_are_no_ids():
    with pytest.raises(ValueError, match="'view_1' does not have 2"):
        read_views([pd.DataFrame(A), pd.DataFrame(B[:10])], RULES)[0]
    with pytest.raises(ValueError, match="'view_1' does not have 12"):
        read_views([pd.DataFrame(A, index=IDS), pd.DataFrame(B)], RULES)[0]
    # A frame that was filtered still says which rows it has.
    assert read_views([pd.DataFrame(A), pd.DataFrame(B)[::2]], RULES)[0].mask.sum() == 18


def test_a_hole_in_a_kernel_is_a_row_and_a_column():
    kernel = A @ A.T
    holed = kernel.copy()
    holed[3] = holed[:, 3] = np.nan
    views = read_views([holed, B @ B.T], replace(RULES, similarity="precomputed"))[0]
    assert np.flatnonzero(~views.mask[:, 0]).tolist() == [3]
    kept = np.delete(np.arange(12), 3)
    np.testing.assert_array_equal(views.arrays[0][np.ix_(kept, kept)], kernel[np.ix_(kept, kept)])
    assert not views.arrays[0][3].any()


BAD = {
    "no view": ([without(A, [4]), without(B, [4])], ["1 samples", "sample 4", "Remove"]),
    "no view, several": ([without(A, range(5)), without(B, range(5))], ["5 samples", "0, 1, 2 and 2 more"]),
    "nobody's view": ({"a": A, "b": B * np.nan}, ["'b'", "all 12 samples", "Remove it"]),
    "view of few": ({"a": A, "b": without(B, range(2, 12))}, ["'b'", "2 of 12", "n_clusters=3", "fewer clusters"]),
    "no tie": (
        {"a": without(A, range(6)), "b": without(B, range(6)), "c": without(C, range(6, 12))},
        ["2 groups", "{'a': 6, 'b': 6}", "{'c': 6}", "on its own", "ids"],
    ),
}


@pytest.mark.parametrize("estimator", OURS)
@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_fused_is_refused_with_advice(case, estimator):
    X, words = BAD[case]
    with pytest.raises(ValueError, match=r"[Vv]iew") as error:
        estimator(3).fit(X)
    for word in words:
        assert word in str(error.value)


def test_samples_are_named_by_id():
    views = Views([A, B], mask=np.arange(24).reshape(12, 2) >= 4, sample_ids=IDS)
    with pytest.raises(ValueError, match="sample 's0', 's1'"):
        check_some_view(views)


def test_views_that_are_tied_in_a_chain_are_accepted():
    mask = np.zeros((12, 3), dtype=bool)
    mask[:5, 0] = mask[4:9, 1] = mask[8:, 2] = True
    check_holes(Views([A, B, C], mask=mask), 3)


def test_other_methods_refuse_by_name():
    for name in ("RMSC", "A-MKKM", "concat-kmeans"):
        method = lf.baselines.METHODS[name]
        with pytest.raises(
            ValueError, match=f"{method.__name__} does not support missing views.*'view_0': 2.*LateFusionClustering"
        ):
            method(n_clusters=2).fit(Views([A, B], mask=np.arange(24).reshape(12, 2) % 14 != 0))
        with pytest.raises(ValueError, match=r"does not support missing views.*'view_0': 2.*LateFusionClustering"):
            method(n_clusters=2).fit([without(A, [1, 2]), B])


def test_what_is_refused_cannot_be_fused():
    mask = np.ones((12, 2), dtype=bool)
    assert can_be_fused(mask, 12)
    mask[0, 0] = False
    assert not can_be_fused(mask, 12)
    assert can_be_fused(mask, 11)
    mask[:6, 0] = mask[6:, 1] = False  # no sample has both
    assert not can_be_fused(mask, 3)
    assert not can_be_fused(np.eye(3, 2, dtype=bool), 1)  # one sample is no view
