r"""Memberships: from the scores of a rule to the probability that a sample is in a cluster.

With :math:`s_j` the score of a sample for cluster j, k clusters, and a weight w of the sample (1 if it has all views),

.. math:: m_j = w^\gamma (1 - \varepsilon) \frac{\exp(a s_j)}{\sum_l \exp(a s_l)}
    + \frac{1 - w^\gamma (1 - \varepsilon)}{k}.

The sharpness a is how fast memberships fall from the centre of a cluster to the border. The lapse ε is the share of the
samples that change their cluster wherever they are, because another clustering has other clusters. The discount γ is
how much missing views count. They are fitted to clusterings that were repeated: for how many of them samples kept their
cluster. Complete samples do not determine γ; it is 1 then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

# The logarithm of the sharpness in units of the median lead of the largest score, the log odds of the lapse, and the
# discount.
SHARPNESS_BOUNDS = (-6.0, 6.0)
LAPSE_BOUNDS = (-7.0, 7.0)
DISCOUNT_BOUNDS = (0.0, 2.0)
STARTS = ((0.0, -2.0, 1.0), (2.0, -2.0, 0.5), (0.0, 1.0, 0.5))
# Smallest probability in the likelihood.
LEAST = 1e-9


@dataclass(frozen=True)
class Membership:
    """Scores to memberships.

    Attributes
    ----------
    sharpness : float
        a, positive.
    lapse : float
        ε, between 0 and 1.
    discount : float, default=1.0
        γ, not negative.
    """

    sharpness: float
    lapse: float
    discount: float = 1.0

    def __call__(self, scores: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """Memberships of samples.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_clusters)
            Of an assignment rule; -inf for a cluster that is impossible.
        weights : ndarray of shape (n_samples,), default=None
            How much is known about every sample, from 0 to 1; 1 by default.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to one, up to rounding. The first largest score has the largest membership, also where rounding
            makes memberships equal: it is then larger by the last digit.

        Examples
        --------
        >>> import numpy as np
        >>> from latefusion.assignment import Membership
        >>> Membership(sharpness=2.0, lapse=0.1)(np.log([[3.0, 1.0], [1.0, 1.0]])).round(2)
        array([[0.86, 0.14],
               [0.5 , 0.5 ]])
        """
        scores = np.asarray(scores, dtype=np.float64)
        exponentials = np.exp(self.sharpness * (scores - scores.max(axis=1, keepdims=True)))
        known = 1.0 if weights is None else np.where(weights > 0, weights**self.discount, 0.0)[:, None]
        kept = (1.0 - self.lapse) * known
        found: NDArray[np.float64] = (
            kept * exponentials / exponentials.sum(axis=1, keepdims=True) + (1.0 - kept) / scores.shape[1]
        )
        labels = np.argmax(scores, axis=1)
        tied = np.flatnonzero(np.argmax(found, axis=1) != labels)
        found[tied, labels[tied]] = np.nextafter(found[tied].max(axis=1), np.inf)
        return found


def fit_membership(
    scores: NDArray[Any], kept: NDArray[Any], compared: NDArray[Any], weights: NDArray[Any] | None = None
) -> Membership:
    r"""The sharpness, the lapse and the discount of the largest likelihood.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_clusters)
    kept : ndarray of shape (n_samples,)
        For how many clusterings the sample kept the cluster with the largest score.
    compared : ndarray of shape (n_samples,)
        For how many it was compared; samples with zero are not used.
    weights : ndarray of shape (n_samples,), default=None
        As for `Membership`.

    Returns
    -------
    Membership

    Notes
    -----
    The log-likelihood is :math:`\sum_i c_i \log m_i + (n_i - c_i) \log(1 - m_i)` with c and n the numbers of
    clusterings and m the membership of the sample in its own cluster.
    """
    used = compared > 0
    scores = np.asarray(scores, dtype=np.float64)[used]
    kept, compared = kept[used], compared[used]
    share = np.ones(len(scores)) if weights is None else weights[used]
    n_parameters = 2 if np.all(share == 1) else 3
    n_clusters = scores.shape[1]
    if n_clusters == 1 or len(scores) == 0:
        return Membership(1.0, 0.0)
    leads = scores - scores.max(axis=1, keepdims=True)
    unit = -float(np.median(np.partition(leads, -2, axis=1)[:, -2]))
    unit = unit if 0 < unit < np.inf else 1.0

    def loss(parameters: NDArray[np.float64]) -> float:
        own = 1.0 / np.exp(np.exp(parameters[0]) / unit * leads).sum(axis=1)
        rest = 1.0 - share ** parameters[2:].sum() * expit(-parameters[1])
        own = np.clip((1.0 - rest) * own + rest / n_clusters, LEAST, 1.0 - LEAST)
        return -float(kept @ np.log(own) + (compared - kept) @ np.log1p(-own)) / float(compared.sum())

    bounds = [SHARPNESS_BOUNDS, LAPSE_BOUNDS, DISCOUNT_BOUNDS][:n_parameters]
    found = [minimize(loss, start[:n_parameters], method="Nelder-Mead", bounds=bounds) for start in STARTS]
    best = min(found, key=lambda one: float(one.fun)).x
    discount = float(best[2]) if n_parameters == 3 else 1.0
    return Membership(float(np.exp(best[0]) / unit), float(expit(best[1])), discount)
