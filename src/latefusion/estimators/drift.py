"""Whether new samples differ from the samples that a model was fitted on: their novelty, and the sizes of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom

from latefusion.estimators.novelty import QUANTILE, Novelty

# Random tables with the same sums for the test of the sizes of clusters.
N_TABLES = 9999
SMALLEST_SHOWN = 1e-4


@dataclass(frozen=True, repr=False)
class Drift:
    """How new samples differ from the training samples of a model.

    Attributes
    ----------
    n_new : int
        Number of new samples.
    n_novel : int
        Number of new samples with a novelty above 1.
    expected : float
        The share of new samples with a novelty above 1 if they come from the same distribution.
    p_novelty : float
        Probability of at least so many novel samples then; NaN without new samples.
    p_sizes : float
        Permutation p-value of the hypothesis that the clusters have the same shares among the training samples as among
        the new samples by the predictions of the model; NaN without new samples, or with a single cluster.

    Notes
    -----
    A novelty of 1 is a quantile of the distances of m reference samples. The share of the distribution beyond it has a
    beta distribution, so that the number of novel samples among n has a beta-binomial one. A binomial test with a share
    of 1 % would ignore that the quantile is estimated, and reject far too often.
    """

    n_new: int
    n_novel: int
    expected: float
    p_novelty: float
    p_sizes: float

    @property
    def share(self) -> float:
        """Share of the new samples with a novelty above 1; NaN without new samples."""
        return self.n_novel / self.n_new if self.n_new else float("nan")

    @property
    def notes(self) -> list[str]:
        """The result in sentences."""
        if not self.n_new:
            return ["Drift: there are no new samples."]
        notes = [
            f"Drift: {self.n_novel} of {self.n_new} new samples ({self.share:.1%}) have a novelty above 1 in the "
            f"old model; {self.expected:.1%} are expected without drift (p {_shown(self.p_novelty)})."
        ]
        if not np.isnan(self.p_sizes):
            notes.append(
                f"Sizes of clusters: test that the old model assigns new samples to its clusters in the same "
                f"proportions as the old samples, p {_shown(self.p_sizes)}."
            )
        return notes

    def __repr__(self) -> str:
        return "\n".join(self.notes)


def find_drift(novelty: Novelty, values: NDArray[Any], before: NDArray[Any], predicted: NDArray[Any]) -> Drift:
    """Compare new samples with training samples.

    Parameters
    ----------
    novelty : Novelty
        Of the model.
    values : ndarray of shape (n_new,)
        Novelty of the new samples.
    before : ndarray of shape (n_training,)
        Labels of the training samples.
    predicted : ndarray of shape (n_new,)
        What the model predicts for the new samples.

    Returns
    -------
    Drift
    """
    n_new, n_novel = len(values), int(np.count_nonzero(values > 1))
    n_references = len(novelty.observed)
    rank = QUANTILE * (n_references - 1) + 1  # as np.quantile counts
    beyond = n_references + 1 - rank
    p_novelty = float(betabinom.sf(n_novel - 1, n_new, beyond, rank)) if n_new else float("nan")
    return Drift(n_new, n_novel, beyond / (n_references + 1), p_novelty, _compare_sizes(before, predicted))


def _compare_sizes(before: NDArray[Any], after: NDArray[Any]) -> float:
    """P-value of chi-squared by random tables with the same sums."""
    clusters = np.unique(np.concatenate([before, after]))
    table = np.stack([np.bincount(np.searchsorted(clusters, one), minlength=len(clusters)) for one in (before, after)])
    if len(clusters) < 2 or not table.sum(axis=1).all():
        return float("nan")
    totals = table.sum(axis=0)
    expected = totals * len(after) / totals.sum()
    drawn = np.random.default_rng(0).multivariate_hypergeometric(totals, len(after), N_TABLES, method="marginals")
    # With fixed sums the squared differences of both rows are in proportion.
    statistics = np.sum((drawn - expected) ** 2 / expected, axis=1)
    observed = np.sum((table[1] - expected) ** 2 / expected)
    return float((1 + np.count_nonzero(statistics >= observed * (1 - 1e-12))) / (1 + N_TABLES))


def _shown(p_value: float) -> str:
    return f"< {SMALLEST_SHOWN:g}" if p_value < SMALLEST_SHOWN else f"= {p_value:.2g}"
