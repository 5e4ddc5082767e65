"""Whatever comes in, the answer is labels that are right in form, or an error that says what is wrong; never garbage.

Of an error only these kinds count: those of a value or type that is refused, in words of this package.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import latefusion as lf
from tests.properties import examples
from tests.trust.inputs import snapshot, views

ESTIMATORS = {
    "GAM": lambda k: lf.GlobalAlignmentClustering(k, random_state=0, n_init=2),
    "GAM graph": lambda k: lf.GlobalAlignmentClustering(k, similarity="graph", random_state=0, n_init=2),
    "GAM linear": lambda k: lf.GlobalAlignmentClustering(k, kernel="linear", random_state=0, n_init=2),
    "LAM": lambda k: lf.LocalAlignmentClustering(k, random_state=0, n_init=2),
    "late fusion": lambda k: lf.LateFusionClustering(k, random_state=0, n_init=2),
    **{
        name: (lambda k, method=method: method(n_clusters=k, random_state=0))
        for name, method in lf.baselines.METHODS.items()
    },
}
NAMED = (ValueError, TypeError)


def settle(model, X):
    """Labels, or the error; warnings other than the package's own are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            return model.fit_predict(X), None
        except NAMED as error:
            return None, error


@pytest.mark.parametrize("name", ESTIMATORS)
@examples(12)
@given(X=views(), k=st.integers(1, 4))
def test_labels_or_an_error_in_words(name, X, k):
    before = [snapshot(view) for view in X]
    labels, error = settle(ESTIMATORS[name](k), X)
    assert [snapshot(view) for view in X] == before
    if error is None:
        assert labels.shape == (np.shape(X[0])[0],)
        assert labels.dtype.kind == "i"
        assert set(labels.tolist()) <= set(range(k))
    else:
        assert type(error) in NAMED, repr(error)
        assert len(str(error)) > 20
