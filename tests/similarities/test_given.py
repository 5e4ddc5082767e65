"""Given partitions: the projection on what a clustering says, and which part of it makes the base partition."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import DBSCAN, KMeans

from latefusion.partitions import fit_base_partitions
from latefusion.similarities import GivenPartition
from latefusion.similarities.factor import Factor
from latefusion.similarities.given import indicator, nearest_subspace
from tests.partitions.rows import extend


def one_hot(labels):
    return np.eye(labels.max() + 1)[labels]


def similarity(view, kind="auto", **options):
    return GivenPartition(kind, **options).similarity(np.asarray(view, dtype=float), 3)[0].toarray()


@pytest.fixture
def labels(seed):
    return np.random.default_rng(seed).integers(5, size=40)


def test_labels_are_the_normalised_comembership_without_the_constant(labels):
    Z = one_hot(labels)
    expected = Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T - 1 / len(Z)
    np.testing.assert_allclose(similarity(labels[:, None]), expected, atol=1e-12)


def test_hard_memberships_say_what_labels_say(labels):
    Z = one_hot(labels)
    for table in (Z, 7 * Z):
        np.testing.assert_allclose(similarity(table, "memberships"), similarity(labels[:, None]), atol=1e-12)
    np.testing.assert_allclose(similarity(Z), similarity(labels[:, None]), atol=1e-12)


def test_tables_are_projections_on_their_centred_columns(labels, seed):
    table = np.random.default_rng(seed).standard_normal((40, 4)) * [1, 10, 100, 0.1] + [0, 5, 1e3, 0]
    centered = table - table.mean(axis=0)
    for view in (table, table @ np.random.default_rng(seed).standard_normal((4, 4))):
        np.testing.assert_allclose(similarity(view), centered @ np.linalg.pinv(centered), atol=1e-6)
    sparse = GivenPartition("embedding").fit_map(scipy.sparse.csr_array(table))
    np.testing.assert_allclose(sparse(table), GivenPartition("embedding").fit_map(table)(table), atol=1e-9)


def test_unassigned_samples_have_zero_rows_and_no_say(labels):
    known = np.arange(40) % 7 != 0
    hidden = np.where(known, labels, -1)
    for view, kind in ((hidden[:, None], "labels"), (one_hot(labels) * known[:, None], "memberships")):
        found = similarity(view, kind)
        assert not found[~known].any()
        np.testing.assert_allclose(found[np.ix_(known, known)], similarity(labels[known][:, None]), atol=1e-12)


def test_names_of_clusters_do_not_matter(labels):
    names = np.random.default_rng(1).permutation(100)[labels]
    np.testing.assert_allclose(similarity(names[:, None]), similarity(labels[:, None]), atol=1e-12)


def test_new_samples_get_the_rows_of_their_clusters(labels):
    matrix, extension = GivenPartition("labels").similarity(labels[:, None].astype(float), 3)
    rows = extension.features(np.array([[3.0], [-1.0]]))
    np.testing.assert_allclose(rows[0], matrix.rows(0, 40)[np.flatnonzero(labels == 3)[0]])
    assert not rows[1].any()
    with pytest.raises(ValueError, match="label 9"):
        extension.features(np.array([[9.0]]))


def test_the_precision_of_the_view_is_kept(labels):
    view = labels[:, None].astype(np.float32)
    assert GivenPartition("labels").similarity(view, 3)[0].rows(0, 5).dtype == np.float32


def test_of_more_directions_those_nearest_to_the_mean_are_taken(seed):
    """No other k directions of the subspace have a larger sum of cosines with M."""
    rng = np.random.default_rng(seed)
    fine = rng.integers(12, size=60)
    matrix, _ = GivenPartition("labels").similarity(fine[:, None].astype(float), 3)
    average = np.linalg.qr(rng.standard_normal((60, 3)))[0]
    chosen = nearest_subspace(matrix, average)
    features = matrix.rows(0, 60)

    def cosines(directions):
        return np.linalg.svd((features @ directions).T @ average, compute_uv=False).sum()

    np.testing.assert_allclose(chosen.T @ chosen, np.eye(3), atol=1e-12)
    for _ in range(50):
        other = np.linalg.qr(chosen + 0.3 * rng.standard_normal(chosen.shape))[0]
        assert cosines(other) <= cosines(chosen) + 1e-12


def test_base_partitions_of_fine_labels_do_not_depend_on_their_order(seed):
    """All eigenvalues are equal: an eigensolver would answer with k of them, others for other names of the clusters."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(3, size=90)
    fine = 4 * coarse + rng.integers(4, size=90)
    features = one_hot(coarse)[:, :2] + 0.1 * rng.standard_normal((90, 2))
    found = []
    for names in (np.arange(12), rng.permutation(12)):
        views = [features, names[fine][:, None].astype(float)]
        base = fit_base_partitions(views, [GivenPartition("embedding"), GivenPartition("labels")], 2)
        found.append(base.vectors[1] @ base.vectors[1].T)
        extended = extend(base, views)
        np.testing.assert_allclose(extended.vectors[1], base.vectors[1], atol=1e-10)
        np.testing.assert_allclose(extended.mean.rows, base.mean.rows, atol=1e-10)
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
    # The two directions that tell the coarse clusters apart are in it.
    Z = one_hot(coarse)
    wanted = Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T - 1 / 90
    assert np.sum(found[0] * wanted) > 1.9


def test_a_fitted_clusterer_labels_features(seed):
    X = np.random.default_rng(seed).standard_normal((50, 3))
    model = KMeans(4, n_init=1, random_state=0).fit(X)
    found = GivenPartition(clusterer=model).similarity(X, 3)[0].toarray()
    np.testing.assert_allclose(found, similarity(model.labels_[:, None]), atol=1e-12)
    with pytest.raises(ValueError, match=r"DBSCAN has no method predict.*labels_"):
        GivenPartition(clusterer=DBSCAN().fit(X))


def test_a_view_without_any_difference_has_a_zero_similarity():
    """Halves of the samples may lose all but one cluster; that is no reason to stop."""
    constant = np.ones((6, 2))
    assert not GivenPartition("embedding").similarity(constant, 3)[0].toarray().any()


def test_indicators_are_sparse():
    columns = indicator(np.array([1, -1, 0]), 2)
    np.testing.assert_array_equal(columns.toarray(), [[0, 1], [0, 0], [1, 0]])
    assert columns.nnz == 2
    assert isinstance(GivenPartition("labels").similarity(np.array([[0.0], [1.0], [1.0]]), 2)[0], Factor)


@pytest.mark.parametrize(
    ("view", "kind", "words"),
    [
        ([[0.5, 0.5], [-0.1, 1.1]], "memberships", "negative memberships, the lowest is -0.1"),
        ([[0.5, 0.5], [np.nan, 1.0]], "memberships", "NaN or infinite.*row of zeros"),
        ([[0.5, 0.5], [np.inf, 1.0]], "embedding", "NaN or infinite"),
        ([[0.5, 0.5], [0.1, 0.9]], "labels", "must have shape"),
    ],
)
def test_bad_views_are_refused_by_name(view, kind, words):
    with pytest.raises(ValueError, match="'p'") as error:
        GivenPartition(kind).fit_map(np.array(view), "p")
    assert error.match(words)


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ([[0.0, 1.0], [0.3, 0.7], [1.0, 0.0], [0.0, 0.0]], "memberships"),  # nothing, too, is a share
        ([[0.0, 1.0], [0.3, 0.7], [-1.0, 2.0], [0.0, 1.0]], "embedding"),
        ([[0.0, 1.0], [0.3, 0.9], [1.0, 0.0], [0.0, 1.0]], "embedding"),
    ],
)
def test_shares_that_sum_to_one_are_memberships(table, kind):
    assert GivenPartition().fit_map(np.array(table)).kind == kind


def test_a_column_that_another_one_repeats_adds_no_direction():
    """Whatever rounding leaves of its difference."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        column = rng.standard_normal(40)
        alone = similarity(np.outer(column, [1.0, 0.0]), "embedding")
        for copies in (2, 4):
            repeated = np.outer(column, rng.standard_normal(copies))
            assert GivenPartition("embedding").fit_map(repeated).width == 1
            np.testing.assert_allclose(similarity(repeated, "embedding"), alone, atol=1e-9)


def test_a_list_of_values_is_labels_and_a_list_of_rows_a_table():
    assert GivenPartition().fit_map(["a", "b", "a", "b", "a"]).kind == "labels"
    assert GivenPartition().fit_map([[1.0, 2.0], [0.5, 3.0], [2.0, 1.0], [-1.0, 0.0]]).kind == "embedding"


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"kind must be one of .*got 'soft'"):
        GivenPartition("soft")
