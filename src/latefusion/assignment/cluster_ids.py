"""Ids of clusters that stay when a clustering is updated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.arrays import beside, namespace
from latefusion.types import Array


@dataclass(frozen=True)
class RuleWithIds:
    """A rule whose clusters have ids of their own instead of the numbers from 0.

    Attributes
    ----------
    rule : AssignmentRule
    ids : ndarray of int of shape (n_clusters,)
        Id of every cluster, by its number in the rule.
    n_ids : int
        Ids from 0 to ``n_ids - 1`` have been used, perhaps by clusters that exist no more. New clusters get others.
    """

    rule: Any
    ids: NDArray[np.intp]
    n_ids: int

    def predict(self, embedding: Array) -> Array:
        """Ids of the clusters of the rows."""
        numbers = self.rule.predict(embedding)
        return namespace(numbers).take(beside(self.ids, numbers), numbers)

    def confidence(self, embedding: Array) -> Array:
        """Confidence of the rows, from 0 to 1."""
        return self.rule.confidence(embedding)

    def scores(self, embedding: Array) -> Array:
        """How well every cluster fits the rows, with the clusters in ascending order of their ids."""
        scores = self.rule.scores(embedding)
        return namespace(scores).take(scores, beside(np.argsort(self.ids), scores), axis=1)


def ids_of_rule(rule: Any, n_clusters: int) -> NDArray[np.intp]:
    """Ids of all clusters of a rule, ascending: the order of its scores."""
    return np.sort(rule.ids) if isinstance(rule, RuleWithIds) else np.arange(n_clusters)


def number_of_ids(rule: Any, n_clusters: int) -> int:
    """The first id that no cluster of this rule, or of those before it, has had."""
    return rule.n_ids if isinstance(rule, RuleWithIds) else n_clusters
