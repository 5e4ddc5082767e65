import numpy as np

import latefusion as lf
from latefusion.plots import ViewAgreementDisplay


def test_cells_are_adjusted_rand_indices(model):
    display = ViewAgreementDisplay.from_estimator(model)
    assert display.names == [*model.view_names_, "consensus"]
    own = model.view_labels()
    table = np.asarray(display.image_.get_array())
    np.testing.assert_array_equal(np.diag(table), 1)
    assert table[0, 1] == table[1, 0] == lf.metrics.adjusted_rand(own[:, 0], own[:, 1])
    assert table[-1, 2] == lf.metrics.adjusted_rand(own[:, 2], model.labels_)
    written = [text.get_text() for text in display.ax_.texts]
    assert written == [f"{value:.2f}" for value in table.ravel()]


def test_views_without_samples_in_common_are_left_blank():
    display = ViewAgreementDisplay([[1.0, np.nan], [np.nan, 1.0]], "ab").plot()
    assert len(display.ax_.texts) == 2


def test_many_views_have_no_numbers():
    assert not ViewAgreementDisplay(np.eye(20), range(20)).plot().ax_.texts
