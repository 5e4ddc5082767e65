import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.interpretation.effects import model_effects
from latefusion.interpretation.gather import gather
from latefusion.report.heatmap import FULL_EFFECT, heatmap, top_features


@pytest.fixture(scope="module")
def people():
    """Two groups that differ in sex and income; three views."""
    generator = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    table = pd.DataFrame(
        {
            "sex": np.where(group == 1, "female", "male"),
            "income": [f"${1000 + 800 * one + generator.integers(100)}" for one in group],
        }
    )
    views = {"people": table, "genes": pd.DataFrame(generator.normal(size=(80, 5)) + 4 * group[:, None])}
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit(views)
    return gather(model, views), views


def test_effects_are_those_of_profiles(people):
    data, views = people
    effects = model_effects(data)
    rows = heatmap(effects, top_features(effects, 2))
    profiles = lf.profiles(data.model, views)
    known = {(one["view"], one["feature"], str(one["cluster"])): one for one in profiles}
    assert rows
    for row in rows:
        for cluster, cell in zip(data.clusters, row.cells, strict=True):
            one = known[row.view, row.feature, cluster]
            assert cell.effect == pytest.approx(one["effect"])
            assert cell.hint == f"{one['shown_inside']} in the cluster, {one['shown_outside']} outside"
            assert cell.strength == pytest.approx(min(1, abs(cell.effect) / FULL_EFFECT))


def test_opposite_categories_are_listed_once(people):
    effects = model_effects(people[0])
    features = [row.feature for row in heatmap(effects, top_features(effects, 2))]
    assert len([one for one in features if one.startswith("sex")]) == 1
    assert "income" in features


def test_features_are_ordered_by_the_cluster_in_which_they_are_largest(gathered):
    effects = model_effects(gathered)
    rows = heatmap(effects, top_features(effects, 3))
    largest = [int(np.argmax([cell.effect for cell in row.cells])) for row in rows]
    assert largest == sorted(largest)


def test_every_cluster_has_a_feature_and_the_number_is_limited(gathered):
    effects = model_effects(gathered)
    for most in (1, 3, 5):
        top = top_features(effects, 3, most)
        assert len(top) == len(set(top)) <= max(3, most)
        for cluster in range(3):
            best = max(np.nanmax(np.abs(one.effect[cluster])) for one in effects)
            shown = max(abs(effects[view].effect[cluster, feature]) for view, feature in top)
            assert shown == pytest.approx(best)


def test_the_page_has_a_cell_per_feature_and_cluster(page_of, section, people):
    data, _ = people
    html = section(page_of(data), "clusters")
    effects = model_effects(data)
    assert html.count('class="heat') - html.count('class="heatmap') == 2 * len(top_features(effects, 2))
    assert "$" in html


def test_without_features_there_is_no_heatmap(page_of, section, planted):
    kernels = [array @ array.T for array in planted.views.arrays]
    model = lf.GlobalAlignmentClustering(3, similarity="precomputed", random_state=0).fit(kernels)
    data = gather(model, kernels)
    assert model_effects(data) == []
    assert 'class="heatmap effects' not in section(page_of(data), "clusters")
