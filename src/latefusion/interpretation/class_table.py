"""Clusters against known classes of the samples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latefusion.encoding.columns import MISSING_WORDS, as_words, column_of
from latefusion.interpretation.outcome_samples import aligned
from latefusion.interpretation.outcome_tests import clustering_of
from latefusion.interpretation.outcomes import opened
from latefusion.metrics import clustering_scores
from latefusion.results import ResultTable


@dataclass(frozen=True, repr=False, eq=False)
class ClassTable:
    """How many samples of every class are in every cluster.

    Attributes
    ----------
    clusters, classes : tuple
        Names of the rows and columns of `counts`, sorted.
    counts : ndarray of shape (n_clusters, n_classes)
    scores : dict of str to float
        Accuracy, NMI, purity and adjusted Rand index of the samples that have a cluster and a class.
    notes : tuple of str
    """

    clusters: tuple[Any, ...]
    classes: tuple[str, ...]
    counts: NDArray[np.int64]
    scores: dict[str, float]
    notes: tuple[str, ...] = ()

    def table(self) -> ResultTable:
        """One row per cluster: the number of samples of every class, the most common class and its share.

        Returns
        -------
        ResultTable
        """
        sizes = self.counts.sum(axis=1)
        columns: dict[str, Any] = {"cluster": list(self.clusters)}
        taken = ("cluster", "most common", "share")
        names = [f"{name} (class)" if name in taken else name for name in self.classes]
        columns |= {name: self.counts[:, position] for position, name in enumerate(names)}
        columns["most common"] = [self.classes[position] for position in self.counts.argmax(axis=1)]
        columns["share"] = self.counts.max(axis=1) / np.maximum(sizes, 1)
        scored = "Agreement: " + ", ".join(f"{name} {value:.3f}" for name, value in self.scores.items()) + "."
        return ResultTable(columns, [scored, *self.notes], {"share": lambda share: f"{share:.0%}"})

    def to_frame(self) -> Any:
        """The counts as a pandas data frame, clusters in rows.

        Returns
        -------
        pandas.DataFrame
        """
        columns = {name: self.counts[:, position] for position, name in enumerate(self.classes)}
        return ResultTable(columns).to_frame().set_axis(list(self.clusters), axis=0)

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def class_table(model_or_labels: Any, classes: Any, *, sample_ids: Any = None) -> ClassTable:
    """Count the samples of every known class in every cluster.

    Parameters
    ----------
    model_or_labels : fitted estimator, or array-like of shape (n_samples,)
        Labels -1, None and NaN are samples without a cluster.
    classes : array-like of shape (n_samples,)
        In the order of the samples, or a series of pandas with sample ids. Empty words, NA, None and NaN are samples
        without a class.
    sample_ids : sequence of shape (n_samples,), default=None
        By default those of the model, or the index of the labels.

    Returns
    -------
    ClassTable

    Examples
    --------
    >>> from latefusion.interpretation import class_table
    >>> class_table([0, 0, 0, 1, 1], ["B", "B", "A", "A", None])
    cluster  A  B  most common  share
    -------  -  -  -----------  -----
    0        1  2  B              67%
    1        1  0  A             100%
    <BLANKLINE>
    Agreement: accuracy 0.750, nmi 0.344, nmi_max 0.311, purity 0.750, ari 0.000.
    1 of 5 samples have no class and are left out.
    """
    _, labels, ids = opened(model_or_labels, sample_ids)
    clustering = clustering_of(labels)
    words = as_words(column_of(aligned("classes", classes, ids, len(labels)).tolist()))
    names = [word for word in words.words or () if word.casefold() not in MISSING_WORDS]
    order = sorted(names, key=number_or_word)
    position = np.array([order.index(word) if word in order else -1 for word in words.words or ()], dtype=np.intp)
    known = words.lookup(position, -1)
    both = clustering.assigned & (known >= 0)
    if not both.any():
        raise ValueError("No sample has both a cluster and a class. Check the classes and their sample ids.")
    counts = np.zeros((len(clustering.clusters), len(order)), dtype=np.int64)
    np.add.at(counts, (clustering.codes[both], known[both]), 1)
    notes = []
    for what, missing in (("cluster", ~clustering.assigned), ("class", clustering.assigned & (known < 0))):
        if missing.any():
            notes.append(f"{missing.sum()} of {len(missing)} samples have no {what} and are left out.")
    scores = clustering_scores(known[both], clustering.codes[both])
    return ClassTable(clustering.clusters, tuple(order), counts, scores, tuple(notes))


def number_or_word(word: str) -> tuple[int, float, list[Any]]:
    """Key that sorts numbers by value, before words, and words with numbers by these: "type 2" before "type 10"."""
    try:
        return (0, float(word), [word])
    except ValueError:
        parts = re.split(r"([0-9]+)", word)
        return (1, 0.0, [int(part) if place % 2 else part for place, part in enumerate(parts)])
