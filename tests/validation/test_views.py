"""The door: everything that may come in gives the same views, everything else an error that says what to do."""

import datetime
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import latefusion as lf
from latefusion import GlobalAlignmentClustering, LocalAlignmentClustering, Views
from latefusion.kernels import gaussian_kernel, linear_kernel
from latefusion.validation import InputRules, is_collection, read_views
from latefusion.validation.opening import refuse_single_columns
from latefusion.validation.views import as_numbers, hide_missing

generator = np.random.default_rng(0)
A, B = generator.standard_normal((12, 4)), generator.standard_normal((12, 3))
KA, KB = ((kernel + kernel.T) / 2 for kernel in (gaussian_kernel(A), gaussian_kernel(B)))
# What pandas calls text, which depends on its version.
TEXT = str(pd.Series(["u"]).dtype)
FA = pd.DataFrame(A, columns=list("abcd"))
FB = pd.DataFrame(B, columns=list("xyz"))
IDS = [f"s{i}" for i in range(12)]
RULES = InputRules("Test")
INCOMPLETE = InputRules("Test", missing=True)
KERNELS = InputRules("Test", similarity="precomputed", missing=True)
SERIES = pd.Series(B[:, 0])


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([A, B], True),
        ((A, B), True),
        ({"a": A}, True),
        ({"a": A, "b": B}.values(), True),
        (Views([A]), True),
        ([A, B[:, 0]], True),
        ([FA, SERIES], True),
        ([A.tolist(), B.tolist()], True),
        (np.zeros((3, 3, 2)), True),
        ([], True),
        ({}, True),
        (A, False),
        (A.tolist(), False),
        ([A[0], A[1]], False),
        (FA, False),
        (pl.DataFrame(A), False),
        (sp.csr_array(A), False),
        (sp.dok_array(A), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_several_views_or_one_table(X, expected):
    assert is_collection(X) is expected


def test_rows_or_views_of_one_column_is_asked_back():
    model = lf.GlobalAlignmentClustering(2)
    with pytest.raises(ValueError, match="2 views of one column or 2 rows of one table"):
        model.fit([A[:, 0], A[:, 1]])
    refuse_single_columns([A[:, :1], A[:, 1]])
    refuse_single_columns(A.tolist())


def matrix_of(array):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.asmatrix(array)


SAME = {
    "list": [A, B],
    "tuple": (A, B),
    "values of a dict": {"p": A, "q": B}.values(),
    "nested lists": [A.tolist(), B.tolist()],
    "views": Views([A, B]),
    "pandas": [FA, FB],
    "polars": [pl.DataFrame(A), pl.DataFrame(B)],
    "objects": [A.astype(object), B.astype(str)],
    "other byte order": [A.astype(">f8"), B.astype(np.longdouble)],
    "matrix": [matrix_of(A), B],
    "sparse": [sp.coo_array(A), sp.dia_array(B)],
    "dok": [sp.dok_array(A), sp.lil_array(B)],
    "shuffled rows": [FA, FB.sample(frac=1.0, random_state=0)],
}


@pytest.mark.parametrize("kind", SAME)
def test_every_kind_of_collection_gives_the_same_views(kind):
    views, _ = read_views(SAME[kind], RULES)
    assert views.names == ("view_0", "view_1")
    for array, expected in zip(views.arrays, (A, B), strict=True):
        assert array.dtype == np.float64
        np.testing.assert_allclose(array.toarray() if sp.issparse(array) else array, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("float16", "float32"), ("float32", "float32"), ("int8", "float64"), ("bool", "float64"), ("uint64", "float64")],
)
def test_types_become_floats(dtype, expected):
    for container in (np.asarray, sp.csr_array):
        if container is sp.csr_array and dtype == "float16":
            continue  # SciPy has no such sparse arrays
        assert as_numbers(container(np.abs(A * 5).astype(dtype)), "v").dtype == expected


def test_arrays_that_need_no_change_are_not_copied():
    assert read_views([A], RULES)[0].arrays[0] is A


def test_ids_and_masks_are_kept():
    views, _ = read_views({"p": FA.set_axis(IDS), "q": FB.set_axis(IDS)}, RULES)
    assert list(views.sample_ids) == IDS
    mask = np.ones((12, 2), dtype=bool)
    mask[3, 1] = False
    views, _ = read_views(Views([A, B], mask=mask, sample_ids=IDS), INCOMPLETE)
    np.testing.assert_array_equal(views.mask, mask)
    assert list(views.sample_ids) == IDS


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize("square", [False, True])
def test_what_is_not_observed_is_never_read(container, square):
    holes, mask = KA.copy(), np.ones(12, dtype=bool)
    mask[[2, 5]] = False
    holes[[2, 5]] = np.nan
    expected = KA * mask[:, None]
    if square:
        holes[:, [2, 5]] = np.inf
        expected = expected * mask
    given = container(holes)
    array, _ = hide_missing(as_numbers(given, "v"), mask, square=square)
    np.testing.assert_array_equal(array.toarray() if sp.issparse(array) else array, expected)
    assert np.isnan(given.toarray() if sp.issparse(given) else given).any()


def test_kernels_in_one_array():
    views, schema = read_views(np.stack([KA, KB], axis=-1), KERNELS)
    np.testing.assert_array_equal(views.arrays[1], KB)
    new, _ = read_views(np.stack([KA, KB], axis=-1)[:3], KERNELS, schema)
    np.testing.assert_array_equal(new.arrays[1], KB[:3])


def test_new_samples_without_names_take_those_of_the_training():
    _, schema = read_views({"p": A, "q": B}, RULES)
    for X in ([A, B], (A, B), Views([A, B]), {"q": B, "p": A}, {"p": A, "q": B}.values()):
        new, same = read_views(X, RULES, schema)
        assert same is schema
        assert new.names == ("p", "q")
        np.testing.assert_array_equal(new.arrays[1], B)


def test_reading_is_pure():
    """The same input gives the same views and schema, and neither input nor rules are changed."""
    X = {"p": FA.set_axis(IDS), "q": FB.set_axis(IDS)[::-1], "t": ["a", "b", "c"] * 4}
    before = {name: pd.DataFrame(view).copy() for name, view in X.items()}
    rules = InputRules("Test", labels=True)
    with pytest.raises(ValueError, match=r"different orders, and \['t'\] have no ids"):
        read_views(X, rules)
    X["t"] = pd.Series(X["t"], index=IDS)
    first, second = (read_views(X, rules) for _ in range(2))
    assert first[1].kinds == ("features", "features", "labels")
    assert [view.columns for view in first[1].views] == [list("abcd"), list("xyz"), None]
    assert first[1].fingerprint == second[1].fingerprint
    for one, other in zip(first[0].arrays, second[0].arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    for name, view in X.items():
        np.testing.assert_array_equal(pd.DataFrame(view), before[name])
    new, _ = read_views(
        {name: view[-3:] for name, view in X.items() if name != "q"}, replace(rules, missing=True), first[1]
    )
    np.testing.assert_array_equal(new.arrays[0], A[-3:])
    np.testing.assert_array_equal(new.arrays[2].ravel(), [0.0, 1.0, 2.0])
    assert new.mask.tolist() == [[True, False, True]] * 3


def test_rows_and_columns_of_a_kernel_are_matched_by_id():
    ids, order = [f"s{i}" for i in range(12)], np.random.default_rng(1).permutation(12)
    first, second = (pd.DataFrame(kernel, index=ids, columns=ids) for kernel in (KA, KB))
    shuffled = second.iloc[order, order[::-1]]
    views, schema = read_views([first, shuffled], KERNELS)
    np.testing.assert_array_equal(views.arrays[1], KB)
    with pytest.warns(UserWarning, match="another order"):
        new, _ = read_views([first[2:4], shuffled.loc[ids[2:4]]], KERNELS, schema)
    np.testing.assert_array_equal(new.arrays[1], KB[2:4])
    part, _ = read_views([first, second.iloc[order[:8], order[:8]]], KERNELS)
    kept = np.sort(order[:8])
    np.testing.assert_array_equal(part.arrays[1][np.ix_(kept, kept)], KB[np.ix_(kept, kept)])
    assert part.mask[:, 1].sum() == 8


def fit(X, n_clusters=3, method=GlobalAlignmentClustering, **parameters):
    return method(n_clusters, random_state=0, **parameters).fit(X)


def fit_kernels(X, **parameters):
    return fit(X, similarity="precomputed", **parameters)


def predict(trained_on, X, *, diagonals=None, **parameters):
    return fit(trained_on, **parameters).predict(X, diagonals=diagonals)


def with_object(value):
    """An array of objects, all but one of which are numbers."""
    array = np.full((12, 4), 1.5, dtype=object)
    array[7, 2] = value
    return array


def changed(array, row, column, value):
    array = np.array(array, dtype=np.result_type(array, type(value)))
    array[row, column] = value
    return array


FEATURES = {
    "row counts": ([A, B[:11]], ["'view_0': 12", "'view_1': 11", "same number of rows"]),
    "infinite": ({"p": A, "q": changed(B, 3, 1, -np.inf)}, ["'q'", "row 3, column 1", "infinite", "drop"]),
    "no views": ([], ["no views", "at least one"]),
    "no views by name": ({}, ["no views", "at least one"]),
    "no columns": ({"p": A, "q": B[:, :0]}, ["'q'", "empty", "(12, 0)"]),
    "no rows": ({"p": A[:0], "q": B[:0]}, ["'p'", "empty", "(0, 4)"]),
    "one row": ([A[:1], B[:1]], ["at least 2 samples", "n_samples=1"]),
    "one dimension": ({"p": A, "q": B[:, 0]}, ["'q'", "two dimensions", "(12,)", "reshape(-1, 1)"]),
    "one dimension in a list": ([A, B[:, 0]], ["'view_1'", "two dimensions", "(12,)", "reshape(-1, 1)"]),
    "series": ([FA, SERIES], ["'view_1'", "two dimensions", "(12,)"]),
    "none": ([A, None], ["'view_1'", "two dimensions"]),
    "three dimensions in a list": ([np.zeros((4, 4, 2))], ["'view_0'", "two dimensions", "(4, 4, 2)"]),
    "three dimensions": (np.zeros((12, 12, 2)), ["(12, 12, 2)", "similarity='precomputed'", "list or dict"]),
    "ragged": (
        [[[1.0, 2.0], [3.0]], [[1.0], [2.0]]],
        ["'view_0'", "not a table", "row 0 has 2 values and row 1 has 1"],
    ),
    "a list of nothing": ({"p": [[], [1.0]]}, ["'p'", "not a table", "row 0 has 0 values and row 1 has 1"]),
    "numbers beside lists": ({"p": [[1.0, 2.0], 3.0]}, ["'p'", "not a table"]),
    "nested": ({"p": [[1.0, [2.0]], [1.0, 3.0]]}, ["'p'", "not numbers", "row 0, column 1: [2.0] (a list)"]),
    "constant": ({"p": A, "q": np.ones((12, 2))}, ["'q'", "constant", "cannot separate", "Remove"]),
    "sparse constant": ({"p": A, "q": sp.csr_array(np.ones((12, 2)))}, ["'q'", "constant", "Remove"]),
    "constant table": (np.ones((12, 2)), ["'view_0'", "constant", "Remove"]),
    "huge": ({"p": A, "q": B * 1e300}, ["'q'", "magnitude", "e+300", "float64", "Divide"]),
    "huge single": ({"p": (A * 1e30).astype(np.float32)}, ["'p'", "magnitude", "float32", "Divide"]),
    "huge table": (A * 1e300, ["'view_0'", "magnitude", "Divide"]),
    "tiny": ({"p": A, "q": B * 1e-300}, ["'q'", "constant up to rounding", "e-300", "Multiply"]),
    "tiny table": (A * 1e-300, ["'view_0'", "constant up to rounding", "Multiply"]),
    "objects": ({"p": A, "q": np.array([["u", "v"]] * 12, dtype=object)}, ["'q'", "not numbers", "'u'", "Encode"]),
    **{
        f"a {type(value).__name__} in an array": (
            {"p": A, "q": with_object(value)},
            [
                "'q'",
                "not numbers",
                f"row 7, column 2: {value!r:.60} (a {type(value).__name__})",
                "Encode",
                "data frame",
            ],
        )
        for value in ([1, 2], {"k": 1}, {3}, "u", 1j, (1,), np.arange(3), datetime.date(2020, 1, 1), 10**400)
    },
    "text": ({"p": A, "q": np.array([["u"]] * 12)}, ["'q'", "not numbers", "Encode"]),
    "complex": ({"p": A, "q": B + 1j}, ["'q'", "complex", "real and imaginary"]),
    "dates": ({"p": A, "q": np.zeros((12, 2), "M8[s]")}, ["'q'", "datetime64[s]", "not numeric"]),
    "records": ({"p": np.zeros((12, 2), dtype=[("u", "f8")])}, ["'p'", "not numeric"]),
    "repeated columns": ([FA, FB.set_axis(["x", "x", "z"], axis=1)], ["'view_1'", "['x']", "Rename"]),
    "repeated columns of a table": (FA.set_axis(list("aabc"), axis=1), ["X", "['a']", "Rename"]),
    "repeated names": ({1: A, "1": B}, ["names must differ", "['1', '1']", "Rename"]),
    "repeated ids": ([FA.set_axis([0] * 12), FB], ["'view_0'", "sample id 0", "unique"]),
    "strange ids": (
        [FA.set_axis(IDS), FB.set_axis([f"t{i}" for i in range(12)])],
        ["'view_1' does not have 12", "'s0'"],
    ),
    "ids on one side only": ([FA.set_axis(IDS), FB], ["does not have 12", "'view_1' contains only row numbers"]),
    "a view without ids": ([FA, FB[::-1], A], ["different orders", "['view_2']", "index"]),
    "mask by row, rows by id": (
        Views([FA, FB[::-1]], mask=np.ones((12, 2))),
        ["different orders", "mask", "same order"],
    ),
    "ids by row, rows by id": (Views([FA, FB[::-1]], sample_ids=IDS), ["different orders", "sample_ids", "same order"]),
}

WITH_IDS = [FA.set_axis(IDS), FB.set_axis(IDS)[::-1]]


def spoilt(frame, sample, column, value):
    frame = frame.copy()
    frame.loc[sample, column] = value
    return frame


BOTH = FA.join(FB).set_axis(IDS)
CELLS = {
    "a shuffled frame": (lambda: fit([WITH_IDS[0], spoilt(WITH_IDS[1], "s3", "y", np.inf)]), "sample 's3', column 'y'"),
    "a frame of some samples": (
        lambda: fit([WITH_IDS[0][6:], spoilt(WITH_IDS[1], "s3", "y", np.inf)]),
        "sample 's3', column 'y'",
    ),
    "row numbers": (lambda: fit([FA, spoilt(FB, 3, "y", np.inf)]), "row 3, column 'y'"),
    "shuffled row numbers": (lambda: fit([FA, spoilt(FB[::-1], 3, "y", np.inf)]), "sample 3, column 'y'"),
    "ids of views": (lambda: fit(Views([A, changed(B, 3, 1, np.inf)], sample_ids=IDS)), "sample 's3', column 1"),
    "one table": (lambda: fit(spoilt(BOTH, "s3", "y", np.inf)), "sample 's3', column 'y'"),
    "groups of a table": (
        lambda: fit(spoilt(BOTH, "s3", "y", np.inf), views={"view_1": ["z", "y"], "view_0": ["a"]}),
        "View 'view_1' .*sample 's3', column 'y'",
    ),
    "groups of an array": (lambda: fit(changed(A, 3, 2, np.inf), views=[[0, 1], [3, 2]]), "row 3, column 2"),
    "a method for complete views": (
        lambda: fit(spoilt(BOTH, "s3", "y", np.inf), views=[["z", "y"]], method=lf.baselines.METHODS["A-MKKM"]),
        "View 'view_0' .*sample 's3', column 'y'",
    ),
    "new samples": (
        lambda: fit([FA, FB]).predict([WITH_IDS[0], spoilt(WITH_IDS[1], "s3", "y", np.inf)]),
        "sample 's3', column 'y'",
    ),
}


@pytest.mark.parametrize("kind", CELLS)
def test_a_value_that_is_not_finite_is_named_as_the_user_names_it(kind):
    attempt, cell = CELLS[kind]
    with pytest.raises(ValueError, match=cell):
        attempt()


HOLES = {
    "rows of NaN": [A, changed(B, 3, slice(None), np.nan)],
    "polars null": [A, pl.DataFrame({"x": [None, *range(11)]})],
    "a mask": Views([A, B], mask=np.arange(24).reshape(12, 2) != 7),
    "ids": [FA.set_axis(IDS), FB.set_axis(IDS)[:11]],
}


@pytest.mark.parametrize("kind", HOLES)
def test_views_may_be_missing_if_the_estimator_supports_it(kind):
    model = fit(HOLES[kind])
    assert sorted(model.n_observed_views_) == [1] + 11 * [2]
    with pytest.raises(ValueError, match=r"(does not support missing views|'view_1' does not have 1)"):
        fit(HOLES[kind], method=lf.baselines.METHODS["A-MKKM"])


ELSEWHERE = {
    "k above n": (lambda: fit([A, B], 13), ["n_samples=12", "n_clusters=13", "fewer"]),
    "k below one": (lambda: fit([A, B], 0), ["n_clusters", "[1, inf)", "0"]),
    "k not whole": (lambda: fit([A, B], 2.5), ["n_clusters", "int", "2.5"]),
    "k a truth": (lambda: fit([A, B], True), ["n_clusters", "integer", "True"]),
    "m x n x n": (lambda: fit_kernels(np.stack([KA, KB])), ["(2, 12, 12)", "n_views)", "np.moveaxis(X, 0, -1)"]),
    "no kernels": (lambda: fit_kernels(np.zeros((12, 12, 0))), ["no views"]),
    "not square": (lambda: fit_kernels({"p": KA, "q": KB[:, :9]}), ["'q'", "square", "(12, 9)"]),
    "asymmetric": (lambda: fit_kernels({"p": np.triu(KA)}), ["'p'", "not symmetric", "(K + K.T) / 2"]),
    "distances": (lambda: fit_kernels({"p": 1 - KA}), ["'p'", "distances", "np.exp"]),
    "indefinite": (
        lambda: fit_kernels({"p": KA - 0.9 * KA**3}),
        ["'p'", "indefinite", "Check how the kernel was computed"],
    ),
    "constant kernel": (lambda: fit_kernels({"p": np.ones((12, 12))}), ["'p'", "constant", "Remove"]),
    "huge kernel": (lambda: fit_kernels({"p": KA * 1e300}), ["'p'", "magnitude", "Divide"]),
    "kernel": (lambda: fit([A], kernel="rbf"), ["kernel", "gaussian", "'rbf'"]),
    "kernel parameter": (lambda: fit([A], kernel_params={"width": 1}), ["gaussian", "'width'", "['sigma']"]),
    "kernel parameter value": (lambda: fit([A], kernel_params={"sigma": -1}), ["'sigma'", "above zero", "-1"]),
    "similarity": (lambda: fit([A], similarity="knn"), ["similarity", "graph", "'knn'"]),
    "similarity in a list": (lambda: fit([A, B], similarity=["graph", "knn"]), ["similarity", "graph", "'knn'"]),
    "too few partitions": (lambda: fit([A, B], similarity=["graph"]), ["1 entries", "2 views", "one value per view"]),
    "partition names": (
        lambda: fit({"p": A, "q": B}, similarity={"p": "graph", "r": "graph"}),
        ["unknown views: ['r']", "['p', 'q']"],
    ),
    "init": (lambda: fit([A], init="random"), ["init", "align", "'random'"]),
    "regularization": (lambda: fit([A], regularization=-1.0), ["regularization", "[0.0, inf)", "-1"]),
    "assign_labels": (lambda: fit([A], assign_labels="vote"), ["assign_labels", "kmeans", "'vote'"]),
    "neighborhood": (
        lambda: fit([A], method=LocalAlignmentClustering, neighborhood=1.5),
        ["neighborhood", "(0.0, 1.0]", "1.5"],
    ),
    "views with a list": (
        lambda: fit([A, B], views={"p": [0]}),
        ["views=", "consists of several views", "Remove views="],
    ),
    "empty views": (lambda: fit(A, views={}), ["views is empty", "at least one"]),
    "views of text": (lambda: fit(A, views="ab"), ["views", "Mapping", "'ab'"]),
    "repeated groups": (lambda: fit(A, views={1: [0], "1": [1]}), ["names must differ", "Rename"]),
    "unknown column": (lambda: fit(FA, views={"p": ["a", "q"]}), ["'p'", "['q']", "spelling"]),
    "unknown position": (lambda: fit(A, views={"p": [0, 9]}), ["'p'", "[9]", "4 columns"]),
    "names without a frame": (lambda: fit(A, views={"p": ["a"]}), ["'p'", "column names", "data frame"]),
    "names and positions": (lambda: fit(FA, views={"p": ["a", 1]}), ["'p'", "[1]"]),
    "no column": (lambda: fit(A, views={"p": []}), ["'p'", "no columns"]),
    "no group": (lambda: fit(A, views={"p": None}), ["'p'", "slice", "None"]),
    "nested group": (lambda: fit(FA, views={"p": [["a"]]}), ["'p'", "[['a']]"]),
    "slice of names": (lambda: fit(FA, views={"p": slice("a", "c")}), ["'p'", "slice", "List the column names"]),
    "short booleans": (lambda: fit(A, views={"p": [True, False]}), ["'p'", "2 booleans", "4 columns"]),
    "positions or names": (
        lambda: fit(FA.set_axis([3, 2, 1, 0], axis=1), views={"p": [0, 1]}),
        ["'p'", "[0, 1]", "positions", "names of other columns"],
    ),
    "other width": (lambda: predict({"p": A}, {"p": A[:, :3]}), ["'p'", "3 columns", "fitted on 4", "same order"]),
    "other names": (lambda: predict({"p": A}, {"q": A}), ["['p']", "['q']", "missing: ['p']", "unknown: ['q']"]),
    "missing view": (lambda: predict([A, B], [A]), ["'view_1'", "missing: ['view_1']", "Pass the same"]),
    "extra view": (lambda: predict([A], [A, B]), ["['view_0']", "unknown: ['view_1']"]),
    "one table for two views": (lambda: predict([A, B], np.hstack([A, B])), ["['view_0', 'view_1']", "['view_0']"]),
    "other table": (lambda: predict(A, B), ["3 features", "4 features"]),
    "other columns": (
        lambda: predict([FA], [FA.rename(columns={"d": "e"})]),
        ["'view_0'", "['d']", "missing_columns='allow'"],
    ),
    "fewer columns": (lambda: predict([FA], [FA[["a", "c"]]]), ["'view_0'", "['b', 'd']", "missing_columns='allow'"]),
    "fewer columns of a table": (lambda: predict(FA, FA[["a", "c"]]), ["X does not have", "['b', 'd']"]),
    "nothing new": (
        lambda: predict({"p": A}, {"p": A * np.nan}),
        ["All views are missing for all 12 samples", "Check"],
    ),
    "new huge": (lambda: predict({"p": A}, {"p": A * 1e300}), ["'p'", "magnitude"]),
    "no new samples": (lambda: predict({"p": A}, {"p": A[:0]}), ["'p'", "empty"]),
    "cross-kernel": (
        lambda: predict({"p": KA}, {"p": KA[:3, :9]}, similarity="precomputed"),
        ["'p'", "9 columns", "12 training samples", "(n_new, 12)"],
    ),
    "no diagonals": (
        lambda: predict({"p": linear_kernel(A)}, {"p": linear_kernel(A)[:3]}, similarity="precomputed"),
        ["'p'", "not constant", "k(x, x)", "diagonals="],
    ),
    "other diagonals": (
        lambda: predict({"p": KA}, {"p": KA[:3]}, diagonals={"q": np.ones(3)}, similarity="precomputed"),
        ["['q']", "['p']"],
    ),
    "short diagonals": (
        lambda: predict({"p": KA}, {"p": KA[:3]}, diagonals=[np.ones(2)], similarity="precomputed"),
        ["'p'", "3 finite", "(2,)"],
    ),
}
TABLE = {name: (lambda X=X: fit(X), words) for name, (X, words) in FEATURES.items()} | ELSEWHERE


@pytest.mark.parametrize("name", TABLE)
def test_every_error_names_problem_and_remedy(name):
    attempt, words = TABLE[name]
    with pytest.raises(ValueError, match=r"\w") as caught:
        attempt()
    assert all(word in str(caught.value) for word in words), caught.value


def test_local_alignment_stands_behind_the_same_door():
    for X, words in FEATURES.values():
        with pytest.raises(ValueError, match=r"\w") as caught:
            fit(X, method=LocalAlignmentClustering)
        assert all(word in str(caught.value) for word in words), caught.value


GAPS = {
    "NaN": {"p": A, "q": changed(B, 3, 1, np.nan)},
    "sparse NaN": {"p": sp.csr_array(changed(A, 0, 0, np.nan)), "q": B},
    "masked array": {"p": np.ma.masked_greater(A, 1.0), "q": B},
    "nullable NA": {"p": FA, "q": FB.astype("Float64").mask(FB > 1)},
    "polars null": {"p": A, "q": pl.DataFrame({"x": [None, *range(11)], "y": range(12)})},
    "one table": changed(A, 3, 1, np.nan),
    "one frame": spoilt(BOTH, "s3", "y", np.nan),
    "words": {"p": A, "q": FB.assign(y=["u", "v", None] * 4)},
    "dates": {"p": A, "q": FB.assign(y=pd.date_range("2020-01-01", periods=12))},
    "categories": {"p": A, "q": FB.assign(y=pd.Categorical(["u", "v"] * 6))},
    "words of polars": {"p": A, "q": pl.DataFrame({"y": ["u", "v", "w"] * 4})},
}


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize("method", [GlobalAlignmentClustering, LocalAlignmentClustering, lf.LateFusionClustering])
def test_single_missing_values_and_columns_of_any_kind_are_accepted(kind, method):
    model = fit(GAPS[kind], method=method)
    assert model.observed_.all()
    np.testing.assert_array_equal(model.predict(GAPS[kind]), model.labels_)


@pytest.mark.parametrize("kind", GAPS)
def test_comparison_methods_accept_them_as_well(kind):
    model = fit(GAPS[kind], method=lf.baselines.METHODS["A-MKKM"])
    assert model.observed_.all()
    assert len(np.unique(model.labels_)) == 3


def test_columns_that_cannot_be_used_are_left_out_with_a_note():
    with pytest.warns(UserWarning, match="View 'q': Column 'y' has the same value in all rows and is left out"):
        fit({"p": A, "q": FB.assign(y="u")})
    with pytest.raises(ValueError, match=r"View 'q' has no column that can be used: \{'y': 'constant'\}"):
        fit({"p": A, "q": pd.DataFrame({"y": ["u"] * 12})})
    with pytest.raises(ValueError, match=r"View 'q' has no values in its columns \['x', 'y'\]\. Remove the view"):
        fit({"p": A, "q": pd.DataFrame({"x": [None] * 12, "y": [None] * 12}, dtype=object)})
    with pytest.raises(ValueError, match="All views are missing for all 12 samples"):
        fit({"p": A * np.nan, "q": B * np.nan})


def test_values_that_contradict_a_kind_are_named_by_view_sample_and_column():
    frame = FB.assign(y=["2020-01-01"] * 5 + ["soon", "later", "never"] + ["2020-01-02"] * 4).set_axis(IDS)
    with pytest.raises(
        ValueError, match="View 'q', sample 's5': Column 'y' was declared as date, but 'soon' is not a date"
    ):
        fit({"q": frame}, column_kinds={"y": "date"})
    mask = np.array([[False, True]] * 3 + [[True, True]] * 9)
    with pytest.raises(ValueError, match="View 'p', row 5: Column 'y' was declared as date, but 'soon'"):
        fit(Views({"p": frame.reset_index(drop=True), "q": B}, mask=mask), column_kinds={"y": "date"})
    with pytest.raises(ValueError, match="View 'q': Column 'y' was declared as ordered"):
        fit({"q": frame}, column_kinds={"y": "ordered"})
    with pytest.raises(ValueError, match=r"'y' was declared as ordered, but none of its values is among .* low, high"):
        fit({"q": frame}, column_kinds={"y": ["low", "high"]})


def test_columns_that_were_not_fitted_are_ignored_with_a_note():
    model = fit([FA, FB])
    with pytest.warns(UserWarning, match=r"View 'view_0' has columns that are not used: \['e'\]"):
        labels = model.predict([FA.assign(e=1), FB])
    np.testing.assert_array_equal(labels, model.labels_)


def test_absent_columns_are_missing_values_where_this_is_allowed():
    model = fit([FA, FB]).set_params(missing_columns="allow")
    with pytest.warns(UserWarning, match=r"'view_0' does not have the columns \['b', 'd'\]\. Their values are"):
        labels = model.predict([FA[["a", "c"]], FB])
    np.testing.assert_array_equal(labels, model.predict([FA.assign(b=np.nan, d=np.nan), FB]))


def test_a_number_may_mark_missing_values():
    holed, marked = changed(A, 3, 1, np.nan), changed(A, 3, 1, -99.0)
    expected = fit([holed, B]).consensus_
    np.testing.assert_array_equal(fit([marked, B], missing_values=-99).consensus_, expected)
    np.testing.assert_array_equal(fit([holed, B], missing_values=np.nan).consensus_, expected)


def test_objects_that_look_like_nothing_are_refused():
    for X in (None, 3, "text", ["u", "v"], SimpleNamespace()):
        with pytest.raises((ValueError, TypeError)):
            fit(X)
