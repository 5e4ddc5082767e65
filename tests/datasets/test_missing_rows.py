import numpy as np
import pytest
import scipy.sparse

from latefusion import Views
from latefusion.baselines import METHODS
from latefusion.datasets import make_views
from latefusion.datasets.missing_rows import draw_mask, without_rows


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("n_views", [1, 2, 5])
def test_every_sample_keeps_a_view_and_the_share_is_that_of_the_rate(rate, n_views):
    mask = draw_mask(4000, n_views, rate, random_state=0)
    assert mask.shape == (4000, n_views)
    assert mask.any(axis=1).all()
    # a sample that would lose all views keeps one of them
    assert mask.mean() == pytest.approx(1 - rate + rate**n_views / n_views, abs=0.02)
    assert mask.mean(axis=0) == pytest.approx(np.full(n_views, mask.mean()), abs=0.03)


def test_a_seed_gives_one_mask():
    assert (draw_mask(50, 3, 0.5, 1) == draw_mask(50, 3, 0.5, 1)).all()
    assert (draw_mask(50, 3, 0.5, 1) != draw_mask(50, 3, 0.5, 2)).any()


def test_removed_rows_hold_no_values_and_the_others_are_unchanged():
    dense = np.arange(12.0).reshape(4, 3) + 1
    whole = np.arange(8, dtype=np.uint8).reshape(4, 2) + 1
    sparse = scipy.sparse.csr_array(dense)
    mask = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1], [1, 1, 0]], dtype=bool)
    views = Views([dense, whole, sparse])
    found = without_rows(views, mask)
    assert (found.mask == mask).all()
    for before, after, observed in zip((dense, whole), found.arrays, mask.T, strict=False):
        assert (after[observed] == before[observed]).all()
        assert np.isnan(after[~observed]).all()
    assert (found.arrays[2].toarray() == np.where(mask[:, [2]], dense, 0)).all()
    assert found.arrays[2].nnz == 6
    assert sparse.nnz == 12
    assert not np.isnan(dense).any()


def test_views_that_are_missing_already_stay_missing():
    data = make_views(30, 3, missing=0.3, random_state=0)
    mask = draw_mask(30, data.views.n_views, 0.3, 0)
    assert (without_rows(data.views, mask).mask == (mask & data.views.mask)).all()


def test_methods_for_missing_views_never_see_removed_values():
    data = make_views(60, 3, random_state=0)
    mask = draw_mask(60, data.views.n_views, 0.3, 0)
    changed = [np.where(observed[:, None], view, 1e6) for view, observed in zip(data.views.arrays, mask.T, strict=True)]
    labels = [
        METHODS["NEMO"](3, random_state=0).fit_predict(without_rows(views, mask))
        for views in (data.views, Views(changed))
    ]
    assert (labels[0] == labels[1]).all()
