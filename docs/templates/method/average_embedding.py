"""A clustering method outside of latefusion, as a template: the mean of spectral embeddings.

Every view has the projector onto the leading eigenvectors of its nearest-neighbour graph. The embedding of all views is
made of the leading eigenvectors of the mean projector. K-means gives the labels.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer
from sklearn.manifold import spectral_embedding
from sklearn.neighbors import kneighbors_graph


class AverageEmbedding(ClusterMixin, BaseEstimator):
    """Cluster by the mean of the spectral embeddings of all views.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_neighbors : int, default=10
        Number of neighbours in the graph of a view.
    similarity : {"auto", "precomputed"}, default="auto"
        Whether views are features or kernels.
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver and of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample.
    """

    # Samples may lack views.
    accepts_missing_views = True

    def __init__(self, n_clusters=8, *, n_neighbors=10, similarity="auto", random_state=None):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.similarity = similarity
        self.random_state = random_state

    def fit(self, X, y=None):
        """Cluster the samples.

        Parameters
        ----------
        X : latefusion.Views
            The views; rows are samples.
        y : ignored

        Returns
        -------
        AverageEmbedding
        """
        rows = []
        for array, observed in zip(X.arrays, X.observed.T, strict=True):
            own = np.zeros((len(observed), self.n_clusters))  # a missing view adds nothing
            own[observed] = self._embedding(array, np.flatnonzero(observed))
            rows.append(own)
        left, _, _ = np.linalg.svd(np.hstack(rows), full_matrices=False)
        embedding = left[:, : self.n_clusters]
        norms = np.linalg.norm(embedding, axis=1, keepdims=True)
        model = KMeans(self.n_clusters, n_init=10, random_state=self.random_state)
        self.labels_ = model.fit_predict(embedding / np.where(norms > 0, norms, 1))
        return self

    def _embedding(self, array, rows):
        """Orthonormal eigenvectors of the graph of the samples that have the view."""
        if self.similarity == "precomputed":
            affinity = np.maximum(array[np.ix_(rows, rows)], 0)
        else:
            points = SimpleImputer(keep_empty_features=True).fit_transform(array[rows])
            graph = kneighbors_graph(points, min(self.n_neighbors, len(rows) - 1))
            affinity = (graph + graph.T) / 2
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            found = spectral_embedding(
                affinity, n_components=self.n_clusters, drop_first=False, random_state=self.random_state
            )
        return np.linalg.qr(found)[0]
