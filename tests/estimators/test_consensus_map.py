"""A consensus row is a sample's features times one matrix: linear in C, and each feature map is applied once."""

from dataclasses import replace

import numpy as np
import pytest

import latefusion as lf
from latefusion.partitions.imputation import Fill

DATA = lf.datasets.make_views(70, 3, n_views=2, n_features=5, random_state=0)
ESTIMATORS = {
    "global": lf.GlobalAlignmentClustering(3, random_state=0),
    "local": lf.LocalAlignmentClustering(3, random_state=0),
    "late fusion": lf.LateFusionClustering(3, random_state=0),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    return ESTIMATORS[request.param].fit(DATA.views).consensus_map_


@pytest.fixture(params=["complete", "missing"])
def views(request):
    if request.param == "complete":
        return DATA.views
    mask = np.ones((70, 2), dtype=bool)
    mask[::3, 0] = False
    return lf.Views(DATA.views.arrays, mask=mask)


def test_rows_are_linear_in_the_coefficients(fitted, views):
    other = np.random.default_rng(0).standard_normal(fitted.coefficients.shape)
    both = replace(fitted, coefficients=fitted.coefficients + other).rows(views)
    apart = fitted.rows(views) + replace(fitted, coefficients=other).rows(views)
    np.testing.assert_allclose(both, apart, atol=1e-9)


def test_a_row_depends_on_its_own_sample_only(fitted, views):
    rows = fitted.rows(views)
    for sample in (0, 1, 69):
        alone = lf.Views([view[[sample]] for view in views.arrays], mask=views.observed[[sample]])
        np.testing.assert_allclose(fitted.rows(alone)[0], rows[sample], atol=1e-9)


def test_features_are_computed_once_for_all_blocks_of_a_similarity(views):
    """Those of a base partition and of the view's share of M are the same."""
    model = lf.GlobalAlignmentClustering(3, random_state=0).fit(DATA.views)
    calls = []

    class Counting:
        def __init__(self, extension):
            self.extension = extension

        def features(self, view, diagonal=None):
            calls.append(view.shape[0])
            return self.extension.features(view, diagonal)

    blocks = tuple(replace(block, extension=Counting(block.extension)) for block in model.consensus_map_.blocks)
    rows = replace(model.consensus_map_, blocks=blocks).rows(views)
    np.testing.assert_array_equal(rows, model.consensus_map_.rows(views))
    assert sorted(calls) == sorted(views.observed.sum(axis=0))


def test_features_are_computed_once_for_equal_similarities(views, fitted):
    """Graphs with anchors do not depend on the number of neighbors, so that several have one extension."""
    calls = []

    class Counting:
        def __init__(self, extension):
            self.extension = extension

        def features(self, view, diagonal=None):
            calls.append(view.shape[0])
            return self.extension.features(view, diagonal)

        def closeness(self, view, features=None):
            return self.extension.closeness(view, features)

    block = fitted.blocks[0]
    counting = replace(block, extension=Counting(block.extension))
    twice = (counting, replace(counting, name="another name"))
    coefficients = fitted.coefficients[: block.projection.shape[1]]
    fill = Fill(np.zeros(2 * len(coefficients), dtype=bool))
    alone = replace(
        fitted, blocks=twice[:1], coefficients=coefficients, fill=Fill(fill.rescaled[::2]), row_weights=None
    )
    rows = replace(alone, blocks=twice, coefficients=np.tile(coefficients, (2, 1)), fill=fill).rows(views)
    assert calls == [np.count_nonzero(views.observed[:, 0])]
    np.testing.assert_allclose(rows, 2 * alone.rows(views), atol=1e-12)
