"""What clusters are described by comes in the order of the samples, or is refused."""

from types import SimpleNamespace

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import latefusion as lf
from latefusion.interpretation import Features
from latefusion.interpretation.features import read_features
from latefusion.report import write_report
from latefusion.scverse.counts import log_normalize

IDS = ["a", "b", "c", "d"]


def cells(values, names, ids):
    return anndata.AnnData(values, obs=pd.DataFrame(index=ids), var=pd.DataFrame(index=names))


def test_rows_are_matched_by_name_whatever_the_kind_of_table():
    values = np.arange(8.0).reshape(4, 2) + 0.5
    order = [2, 0, 3, 1]
    ids = [IDS[row] for row in order]
    tables = {
        "frame": pd.DataFrame(values[order], index=ids, columns=["x", "y"]),
        "cells": cells(values[order], ["x", "y"], ids),
        "sparse": Features(scipy.sparse.csc_array(values[order]), ["x", "y"], np.array(ids)),
        "bare": Features(values, ["x", "y"]),
    }
    for name, found in read_features(tables, 4, IDS).items():
        dense = found.values.toarray() if name == "sparse" else found.values
        np.testing.assert_array_equal(dense, values)
        assert (found.names, found.observed.all()) == (["x", "y"], True)


def test_samples_that_are_not_in_the_table_are_not_observed():
    found = read_features({"v": cells(np.ones((2, 1)), ["x"], ["d", "b"])}, 4, IDS)["v"]
    assert found.observed.tolist() == [False, True, False, True]


def test_counts_of_molecules_become_comparable():
    counts = np.random.default_rng(0).poisson(3.0, size=(4, 6)).astype(float)
    mdata = SimpleNamespace(mod={"rna": cells(counts, list("uvwxyz"), IDS)}, obsmap={}, obs_names=IDS)
    np.testing.assert_allclose(read_features(mdata, 4, IDS)["rna"].values, log_normalize(counts))


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([1, 2], TypeError, "got list"),
        ({"v": np.ones((4, 2))}, TypeError, "are a ndarray"),
        ({"v": Features(np.ones((4, 2)), ["x"])}, ValueError, "have 2 columns, but 1 names were given"),
        ({"v": Features(np.ones((3, 1)), ["x"])}, ValueError, "have 3 rows, but the model was fitted on 4"),
        ({"v": Features(np.ones((1, 1)), ["x"], np.array(["q"]))}, ValueError, "first row of the features is 'q'"),
    ],
)
def test_what_cannot_be_matched_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        read_features(given, 4, IDS)


def test_a_page_speaks_of_the_features_and_not_of_the_components(tmp_path):
    data = lf.datasets.make_views(n_samples=60, n_clusters=2, random_state=0)
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(data.views)
    genes = np.where(model.labels_[:, None] == 0, 5.0, 1.0) + np.random.default_rng(0).normal(size=(60, 3))
    first = data.views.names[0]
    path = write_report(
        model,
        data.views,
        tmp_path / "page.html",
        features={first: Features(genes, ["BRCA1", "TP53", "MYC"])},
        baselines=False,
        embedding="pca",
    )
    page = path.read_text(encoding="utf-8")
    for name in ("BRCA1", "TP53", "MYC"):
        assert name in page
