"""New samples on the digits views: what `predict` gives back, and what it gives for a half it has not seen.

usage: python benchmarks/new_samples.py [--output FILE.json]

Per method and kind of similarity: the share of training samples whose predicted label is `labels_`; the largest
difference between `transform` of the training samples and `consensus_`; and for the even and the odd samples and eight
random halves, the agreement with clustering everything of (a) the samples that the half was fitted on and (b) those it
predicts. Where (a) is as low as (b), the clustering itself depends on the sample, not the extension to new ones.
K-means on the concatenation stands beside.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import latefusion as lf


def agreement(reference, labels):
    """Share of equal labels after the best renaming."""
    return round(float(np.mean(lf.metrics.match_labels(reference, labels) == reference)), 4)


def halves(fit, take, n_samples, whole):
    """Agreement with the whole on the fitted and on the predicted half, for ten halves."""
    orders = [np.r_[0:n_samples:2, 1:n_samples:2]]
    orders += [np.random.default_rng(seed).permutation(n_samples) for seed in range(4)]
    fitted, predicted = [], []
    for order in orders:
        parts = np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :])
        for seen, unseen in (parts, parts[::-1]):
            half = fit(take(seen))
            fitted.append(agreement(whole[seen], half.labels_))
            predicted.append(agreement(whole[unseen], half.predict(take(unseen))))
    return {
        "fitted halves": fitted,
        "predicted halves": predicted,
        "median predicted": round(float(np.median(predicted)), 4),
        "at least .95": f"{sum(value >= 0.95 for value in predicted)} of {len(predicted)}",
    }


def main():
    """Measure and print one line per method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    views, _ = lf.datasets.load_digits_views(return_X_y=True)
    rows = []
    for estimator in (lf.GlobalAlignmentClustering, lf.LocalAlignmentClustering):
        for similarity in ("kernel", "graph"):
            model = estimator(10, similarity=similarity, random_state=0)
            whole = model.fit(views)
            row = {
                "method": f"{estimator.__name__}, {similarity}",
                "predict equals labels_": float(np.mean(whole.predict(views) == whole.labels_)),
                "largest transform error": float(np.abs(whole.transform(views) - whole.consensus_).max()),
            }
            labels = whole.labels_.copy()
            rows.append(row | halves(model.fit, views.__getitem__, len(views), labels))
    table = np.hstack([view / np.sqrt(np.mean(np.var(view, axis=0)) * view.shape[1]) for view in views.arrays])
    kmeans = KMeans(10, n_init=10, random_state=0)
    labels = kmeans.fit_predict(table).copy()
    rows.append({"method": "KMeans on the concatenation"} | halves(kmeans.fit, table.__getitem__, len(table), labels))
    for row in rows:
        print(json.dumps(row), flush=True)
    if args.output:
        args.output.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
