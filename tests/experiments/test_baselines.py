import numpy as np
import pytest

import latefusion as lf
from latefusion.experiments import compare_baselines
from latefusion.selection import spaces


@pytest.fixture(scope="module")
def data():
    return lf.datasets.make_views(90, 3, noise=0.8, random_state=0)


def compared(*args, **options):
    return compare_baselines(*args, random_state=0, **options)


def test_ours_comes_last_with_the_score_it_was_chosen_by(data):
    rows = compared(data.views, 3)
    names = [f"KMeans on {name}" for name in data.views.names]
    assert [row.method for row in rows] == [
        *names,
        "concat-kmeans",
        "concat-spectral",
        "A-MKKM",
        "LateFusionClustering",
    ]
    model = lf.LateFusionClustering(3, random_state=0).fit(data.views)
    np.testing.assert_array_equal(rows[-1].labels, model.labels_)
    chosen = next(row for row in model.selection_ if row["chosen"])
    assert rows[-1].scores["information"] == pytest.approx(chosen["score"])
    assert rows.remarks == (model.selection_.reason,)
    assert "ACC" not in repr(rows)
    for row in rows:
        assert row.scores["agreement"] == pytest.approx(lf.metrics.adjusted_rand(model.labels_, row.labels))


def test_known_classes_add_scores_and_take_nothing_away(data):
    with_classes = compared(data.views, 3, target=data.target)
    without = compared(data.views, 3)
    assert with_classes[0].note == "view chosen with the classes"
    assert len(with_classes) == 5
    for one, other in zip(with_classes[1:], without[3:], strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
        assert other.scores.items() <= one.scores.items()
        assert one.scores["accuracy"] == lf.metrics.clustering_accuracy(data.target, one.labels)
    assert repr(with_classes).splitlines()[0].split()[:4] == ["method", "ACC", "NMI", "purity"]


def test_names_of_clusters_do_not_matter(data):
    """A relabelled clustering has the same information, so the score is one of the clustering."""
    model = lf.LateFusionClustering(3, random_state=0).fit(data.views)
    score = model.criterion()
    renamed = np.array([7, 3, 5])[model.labels_]
    assert score(renamed) == pytest.approx(score(model.labels_))
    assert score(np.random.default_rng(0).permutation(model.labels_)) < score(model.labels_) / 2


def test_kernels_alone_and_their_mean(data):
    kernels = {name: view @ view.T for name, view in data.views.items()}
    rows = compared(kernels, 3, similarity="precomputed")
    assert [row.method for row in rows[:2]] == ["kernel k-means on view_0", "kernel k-means on view_1"]
    assert all(row.labels is not None for row in rows)
    alone = lf.baselines.METHODS["A-MKKM"](n_clusters=3, similarity="precomputed", random_state=0)
    np.testing.assert_array_equal(rows[0].labels, alone.fit_predict([kernels["view_0"]]))
    stacked = compared(np.stack(list(kernels.values()), axis=2), 3, similarity="precomputed")
    np.testing.assert_array_equal(rows[-1].labels, stacked[-1].labels)


def test_a_number_that_was_found_is_given_to_all(data):
    rows = compared(data.views, range(2, 5))
    assert {len(np.unique(row.labels)) for row in rows} == {3}
    model = lf.LateFusionClustering(range(2, 5), random_state=0).fit(data.views)
    assert rows.remarks == (model.number_selection_.reason, model.selection_.reason)


def test_one_table_with_groups_of_columns(data):
    table = np.hstack(data.views.arrays)
    edges = np.cumsum([0, *data.views.widths])
    groups = {name: slice(edges[p], edges[p + 1]) for p, name in enumerate(data.views.names)}
    rows = compared(table, 3, views=groups)
    np.testing.assert_array_equal(rows[-1].labels, compared(data.views, 3)[-1].labels)


def test_beyond_the_samples_of_the_search(data, monkeypatch):
    monkeypatch.setattr(spaces, "SEARCH_SAMPLES", 60)
    rows = compared(data.views, 3)
    model = lf.LateFusionClustering(3, random_state=0).fit(data.views)
    assert model.selection_.n_samples == 60
    assert 0 < rows[-1].scores["information"] <= 1


def test_what_cannot_be_compared_is_said(data):
    with pytest.raises(ValueError, match="'auto' for features or 'precomputed' for kernels, got 'graph'"):
        compare_baselines(data.views, 3, similarity="graph")
    with pytest.raises(ValueError, match="n_samples=90 should be >= n_clusters=91"):
        compare_baselines(data.views, 91)


def test_nothing_is_printed(data, capsys):
    shown = repr(compared(data.views, 3))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert "LateFusionClustering" in shown
