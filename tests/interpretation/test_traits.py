from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import latefusion as lf
from latefusion.interpretation.gather import gather
from latefusion.interpretation.traits import LEAST_EFFECT, cluster_traits, features_of


def test_the_feature_that_makes_the_cluster_is_named_first(gathered):
    marked = np.random.default_rng(0).standard_normal((90, 4))
    marked[:, 2] -= 5.0 * (gathered.labels == 1)
    views = [replace(gathered.views[0], array=marked), *gathered.views[1:]]
    first = cluster_traits(replace(gathered, views=views))[1][0]
    assert (first.view, first.feature) == ("view_0", "column 2")
    assert first.effect < -2
    assert first.inside < first.outside


def test_small_effects_are_left_out(gathered):
    noise = np.random.default_rng(0).standard_normal((90, 4)) * [1, 1e-3, 10, 1e4]
    noise[:, 3] += 1e5 * (gathered.labels == 1)
    views = [replace(view, array=noise) for view in gathered.views]
    found = cluster_traits(replace(gathered, views=views))
    effects = np.array([trait.effect for traits in found for trait in traits])
    assert len(found[1]) >= len(views)
    assert len(effects) < 3 * len(views) * noise.shape[1]
    assert np.all(np.abs(effects) >= LEAST_EFFECT)


def test_labels_are_described_by_shares(agreed, labelings):
    found = gather(agreed, labelings)
    described = cluster_traits(found)
    assert all(len(traits) > 0 for traits in described)
    for cluster, traits in enumerate(described):
        members = found.labels == cluster
        for trait in traits:
            view = next(view for view in found.views if view.name == trait.view)
            known = members & view.observed
            share = np.mean([view.label_names[code] == trait.feature for code in view.labels[known]])
            assert trait.effect == pytest.approx(share)


def test_kernels_have_no_features(gathered):
    views = [replace(view, kind="similarities") for view in gathered.views]
    assert cluster_traits(replace(gathered, views=views)) == [[], [], []]


def test_tables_are_described_in_the_units_of_the_user():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    table = pd.DataFrame(
        {
            "region": np.where(rng.random(80) < 0.9, np.where(group, "north", "south"), "east"),
            "spend": [f"${value:,.0f}" for value in np.where(group, 2000, 500) + rng.normal(0, 50, 80)],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(group * 365 + rng.integers(0, 30, 80), "D"),
            "note": [
                f"{'fast and good' if one else 'slow and bad'} order number {row}" for row, one in enumerate(group)
            ],
        }
    )
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"customers": table})
    found = {one.feature: one for one in features_of(model, {"customers": table}, model.labels_[-1], most=20)}
    inside = np.mean(table["region"][group == 1] == "north")
    assert found["region: north"].shown == (f"{inside:.0%}", "0%")
    middle = np.median([float(one.strip("$").replace(",", "")) for one in table["spend"][group == 1]])
    assert found["spend"].inside == middle
    assert found["spend"].shown[0] == f"${middle:,.0f}"
    assert found["since"].shown[0].startswith("2021-01")
    assert found["since"].shown[1].startswith("2020-01")
    assert found["note: “fast”"].shown == ("100%", "0%")
    assert str(found["spend"]).startswith(f"spend (customers): ${middle:,.0f} in the cluster, $")


def test_effects_of_numbers_are_differences_in_standard_deviations():
    table = pd.DataFrame({"x": [0.0, 1, 2, 10, 11, 12], "word": list("aaabbb")})
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"t": table})
    found = {one.feature: one for one in features_of(model, {"t": table}, model.labels_[-1])}
    assert found["x"].effect == pytest.approx(10 / np.std([0, 1, 2]))
    assert (found["x"].inside, found["x"].outside) == (11, 1)
    assert found["word: b"].effect == pytest.approx(1 / 0.1)  # the variance of a share is at least .01


def test_unknown_clusters_are_refused():
    table = pd.DataFrame({"x": [0.0, 1, 2, 10, 11, 12], "word": list("aaabbb")})
    model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"t": table})
    with pytest.raises(ValueError, match=r"Unknown cluster 7\. The clusters are 0, 1"):
        features_of(model, {"t": table}, 7)
