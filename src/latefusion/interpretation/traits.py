"""The features that describe a cluster best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.interpretation.effects import Effects, model_effects
from latefusion.interpretation.features import Described
from latefusion.interpretation.gather import ModelData, gather

# Features per cluster, in total and per view (fewer if there are many clusters), and the smallest effect that is shown
# ("small" in the terms of Cohen).
MOST_TRAITS = 15
MANY_CLUSTERS, FEWER_TRAITS = 12, 9
MOST_PER_VIEW = 5
LEAST_PER_VIEW = 2
LEAST_EFFECT = 0.2


class Trait(NamedTuple):
    """A feature by which a cluster differs from all other samples.

    Attributes
    ----------
    view : str
    feature : str
    effect : float
        For features: mean in the cluster minus mean outside, in standard deviations. For labels: share of the cluster
        that has the label.
    inside, outside : float
        Means, or shares, in the cluster and outside of it; for numbers of tables, medians.
    is_share : bool
        Whether the feature is a label and the effect a share.
    shown : tuple of str
        For tables: `inside` and `outside` as text, in the units of the user.
    """

    view: str
    feature: str
    effect: float
    inside: float
    outside: float
    is_share: bool = False
    shown: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """The values in the cluster and outside, as a sentence."""
        inside, outside = self.shown or (f"{self.inside:.4g}", f"{self.outside:.4g}")
        return f"{inside} in the cluster, {outside} outside"

    def __str__(self) -> str:
        return f"{self.feature} ({self.view}): {self.hint}"


def features_of(model: Any, X: Any, cluster: Any, *, most: int = 10) -> list[Trait]:
    """The features by which one cluster differs most from all other samples.

    Parameters
    ----------
    model : fitted estimator
    X : as in the ``fit`` of the model
        The views that it was fitted on.
    cluster : object
        One of the values of ``labels_``.
    most : int, default=10
        Number of features at most.

    Returns
    -------
    list of Trait
        Largest effect first. In the units of the user where the view is a table: medians of numbers and dates, shares
        of categories, shares of texts with a word.

    Examples
    --------
    >>> import pandas as pd
    >>> import latefusion as lf
    >>> from latefusion.interpretation import features_of
    >>> table = pd.DataFrame({"region": ["north", "south"] * 20, "spend": ["$10", "$500"] * 20, "age": range(20, 60)})
    >>> model = lf.GlobalAlignmentClustering(2, random_state=0).fit({"customers": table})
    >>> print(features_of(model, {"customers": table}, model.labels_[0])[0])
    spend (customers): $10 in the cluster, $500 outside
    """
    data = gather(model, X, single_views=False)
    if str(cluster) not in data.clusters:
        raise ValueError(f"Unknown cluster {cluster!r}. The clusters are {', '.join(data.clusters)}.")
    traits = cluster_traits(data, most_per_view=most)[data.clusters.index(str(cluster))]
    return sorted(traits, key=lambda one: -abs(one.effect))[:most]


def cluster_traits(
    data: ModelData, described: Mapping[str, Described] | None = None, most_per_view: int | None = None
) -> list[list[Trait]]:
    """For every cluster the features with the largest effects, view by view.

    Parameters
    ----------
    data : ModelData
    described : mapping of str to Described, default=None
        Features that replace the columns of a view, by its name.
    most_per_view : int, default=None
        Number of features of every view; by default so many that a page can show them.

    Returns
    -------
    list of list of Trait
        One list per cluster, in the order of the views, largest effect first.
    """
    return traits_of(model_effects(data.described_by(described or {})), data, most_per_view)


def traits_of(effects: Sequence[Effects], data: ModelData, most_per_view: int | None = None) -> list[list[Trait]]:
    """`cluster_traits` from effects that were computed before.

    Parameters
    ----------
    effects : sequence of Effects
    data : ModelData
    most_per_view : int, default=None
        As in `cluster_traits`.

    Returns
    -------
    list of list of Trait
    """
    n_clusters = len(data.clusters)
    in_all = MOST_TRAITS if n_clusters <= MANY_CLUSTERS else FEWER_TRAITS
    most = most_per_view or max(LEAST_PER_VIEW, min(MOST_PER_VIEW, in_all // len(data.views)))
    return [[one for own in effects for one in _strongest(own, cluster, most)] for cluster in range(n_clusters)]


def _strongest(effects: Effects, cluster: int, most: int) -> list[Trait]:
    """The largest effects of one cluster; of labels, the largest shares."""
    sizes: NDArray[np.float64] = np.where(
        [kind == "label" for kind in effects.kinds], effects.inside[cluster], effects.effect[cluster]
    )
    strength = np.where(np.isnan(sizes), 0.0, np.abs(sizes))
    order = np.argsort(-strength, kind="stable")[:most]
    return [_trait(effects, cluster, one, float(sizes[one])) for one in order if strength[one] >= LEAST_EFFECT]


def _trait(effects: Effects, cluster: int, feature: Any, size: float) -> Trait:
    inside, outside = float(effects.inside[cluster, feature]), float(effects.outside[cluster, feature])
    kind, unit = effects.kinds[feature], effects.units[feature]
    shown = () if unit.kind == "value" or kind == "label" else (unit(inside), unit(outside))
    return Trait(effects.view, effects.names[feature], size, inside, outside, kind == "label", shown)
