"""Columns of text as coordinates: leading directions of TF-IDF weights (latent semantic analysis)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from latefusion.encoding.columns import Column

# Terms that are used: in at least two texts, in at most half of them, and at most so many.
LEAST_TEXTS = 2
MOST_SHARE = 0.5
MOST_TERMS = 20_000
N_DIRECTIONS = 20


@dataclass(frozen=True)
class TextCoding:
    """Texts by the words in them.

    Attributes
    ----------
    name : str
    terms : tuple of str
    weights : ndarray of shape (n_terms,)
        Inverse document frequencies.
    directions : ndarray of shape (n_terms, width)
        Leading right singular vectors of the TF-IDF weights, divided by the root of the total variance.
    """

    name: str
    terms: tuple[str, ...]
    weights: NDArray[np.float64]
    directions: NDArray[np.float64]
    kind: ClassVar[str] = "text"

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.directions.shape[1])

    def __call__(self, column: Column) -> NDArray[np.float64]:
        """Coordinates of texts; zero for a text without any of the terms."""
        return column.lookup(_tfidf(self.counts(column), self.weights) @ self.directions)

    def counts(self, column: Column) -> Any:
        """How often every term is in the different texts of a column, a sparse array of shape (n_texts, n_terms)."""
        if not column.words:
            return scipy.sparse.csr_array((0, len(self.terms)))
        return scipy.sparse.csr_array(CountVectorizer(vocabulary=self.terms).transform(column.words))


def fit_text(name: str, column: Column) -> TextCoding | None:
    """The coding of a column of text; None if its texts have no words in common.

    Parameters
    ----------
    name : str
    column : Column
        Of words.

    Returns
    -------
    TextCoding or None
    """
    texts, repeats = column.words or (), column.counts()
    limit = max(LEAST_TEXTS, int(MOST_SHARE * len(texts)))
    try:
        vectorizer = CountVectorizer(min_df=min(LEAST_TEXTS, len(texts)), max_df=limit, max_features=MOST_TERMS)
        counts = scipy.sparse.csr_array(vectorizer.fit_transform(texts))
    except ValueError:  # no terms are left
        return None
    n_texts = max(1, int(repeats.sum()))
    frequency = (counts > 0).T @ repeats.astype(np.float64)
    weights = np.log((1 + n_texts) / (1 + frequency)) + 1
    tfidf = _tfidf(counts, weights)
    width = min(N_DIRECTIONS, *(size - 1 for size in tfidf.shape))
    if width < 1:
        return None
    _, _, directions = randomized_svd(
        scipy.sparse.diags_array(np.sqrt(repeats)) @ tfidf, width, random_state=0, n_oversamples=10, n_iter=5
    )
    rows = tfidf @ directions.T
    mean = np.average(rows, axis=0, weights=repeats)
    variance = float(np.sum(np.average((rows - mean) ** 2, axis=0, weights=repeats)))
    if variance <= 0:
        return None
    return TextCoding(name, tuple(vectorizer.get_feature_names_out()), weights, directions.T / np.sqrt(variance))


def _tfidf(counts: Any, weights: NDArray[np.float64]) -> Any:
    weighted = counts.astype(np.float64)
    weighted.data = 1 + np.log(weighted.data)
    return normalize(weighted @ scipy.sparse.diags_array(weights))
