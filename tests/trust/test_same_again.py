"""The same again: for a seed, whatever the number of jobs, after a detour over a file, in another process.

On one machine the bits are the same. The last digits may differ where a BLAS library sums up in another order: with
other numbers of threads, and with samples or views in another order. There the labels are the same up to names.
"""

import hashlib
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import latefusion as lf

DATA = lf.datasets.make_views(240, 4, n_views=3, n_features=[5, 8, 13], separation=4.0, random_state=0)
ESTIMATORS = {
    "GAM": lambda **options: lf.GlobalAlignmentClustering(4, random_state=0, **options),
    "GAM graph": lambda **options: lf.GlobalAlignmentClustering(4, similarity="graph", random_state=0, **options),
    "LAM": lambda **options: lf.LocalAlignmentClustering(4, random_state=0, **options),
    "late fusion": lambda **options: lf.LateFusionClustering(4, random_state=0, **options),
}
RESULTS = ("labels_", "consensus_", "view_weights_", "objective_", "confidence_", "agreement_")


def bits(model):
    return {name: hashlib.sha256(np.ascontiguousarray(getattr(model, name)).tobytes()).hexdigest() for name in RESULTS}


@pytest.fixture(scope="module", params=list(ESTIMATORS))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(name):
    return ESTIMATORS[name]().fit(DATA.views)


def test_same_seed_same_bits(name, fitted):
    assert bits(ESTIMATORS[name]().fit(DATA.views)) == bits(fitted)


def test_jobs_change_no_bit(name, fitted):
    assert bits(ESTIMATORS[name](n_jobs=2).fit(DATA.views)) == bits(fitted)


def test_a_pickle_and_a_file_change_no_bit(fitted, tmp_path):
    again = pickle.loads(pickle.dumps(fitted))
    lf.save(fitted, tmp_path / "model")
    loaded = lf.load(tmp_path / "model")
    for one in (again, loaded):
        assert bits(one) == bits(fitted)
        np.testing.assert_array_equal(one.transform(DATA.views), fitted.transform(DATA.views))
    # What has been fitted elsewhere can be fitted again, to the same.
    assert bits(again.fit(DATA.views)) == bits(fitted)


def test_another_process_gives_the_same_bits(name, fitted):
    command = (
        "import json; from tests.trust.test_same_again import DATA, ESTIMATORS, bits; "
        f"print(json.dumps(bits(ESTIMATORS[{name!r}]().fit(DATA.views))))"
    )
    found = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "123", "PYTHONPATH": "."},
    )
    assert json.loads(found.stdout) == bits(fitted)


def test_threads_of_the_libraries_change_no_label(name, fitted):
    for limit in (1, 2):
        with threadpool_limits(limit):
            again = ESTIMATORS[name]().fit(DATA.views)
        np.testing.assert_array_equal(again.labels_, fitted.labels_)
        np.testing.assert_allclose(np.abs(again.consensus_.T @ fitted.consensus_), np.eye(4), atol=1e-6)


def test_order_of_samples_and_views_changes_no_cluster(name, fitted):
    rows = np.random.default_rng(0).permutation(240)
    shuffled = ESTIMATORS[name]().fit([view[rows] for view in DATA.views.arrays])
    assert adjusted_rand_score(shuffled.labels_, fitted.labels_[rows]) == 1
    swapped = ESTIMATORS[name]().fit(DATA.views.arrays[::-1])
    assert adjusted_rand_score(swapped.labels_, fitted.labels_) == 1
    np.testing.assert_allclose(swapped.view_weights_, fitted.view_weights_[::-1], atol=1e-6)


@pytest.mark.parametrize("method", lf.baselines.METHODS)
def test_comparison_methods_repeat_themselves(method):
    make = lf.baselines.METHODS[method]
    first, second = (make(n_clusters=4, random_state=0).fit(DATA.views) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, second.labels_)
