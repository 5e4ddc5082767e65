"""How counts of RNA and proteins are best given to `LateFusionClustering`, on simulated cells.

Cells have six types. RNA cannot tell the first two apart, proteins not the third and fourth; the depth of a cell varies
by a factor of about three. Every row is one draw; columns are ACC by how RNA and proteins are given.

    python benchmarks/cells.py
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from latefusion import LateFusionClustering
from latefusion.metrics import clustering_accuracy
from latefusion.scverse.counts import center_log_ratios, log_normalize, principal_components

N_CELLS, N_GENES, N_PROTEINS, N_TYPES, N_MARKERS = 800, 3000, 30, 6, 60


def draw_cells(strength: float, seed: int) -> tuple[scipy.sparse.csr_array, np.ndarray, np.ndarray]:
    """Counts of genes and proteins, and the types of the cells."""
    rng = np.random.default_rng(seed)
    types = rng.integers(N_TYPES, size=N_CELLS)
    base = np.exp(rng.normal(-1.0, 1.3, size=N_GENES))
    changes = np.ones((N_TYPES, N_GENES))
    for kind in range(N_TYPES):
        markers = rng.choice(N_GENES, N_MARKERS, replace=False)
        changes[kind, markers] = np.exp(strength * rng.uniform(0.5, 1.6, N_MARKERS))
    changes[1] = changes[0]
    rates = base * changes[types]
    depth = 3000 * np.exp(rng.normal(0, 0.45, size=(N_CELLS, 1)))
    rates *= depth / rates.sum(axis=1, keepdims=True)
    rna = rng.poisson(rates * rng.gamma(2.0, 0.5, size=rates.shape))
    present = rng.random((N_TYPES, N_PROTEINS)) < 0.3
    present[3] = present[2]
    present[0] ^= np.arange(N_PROTEINS) < 4
    present[1] ^= np.arange(N_PROTEINS) >= N_PROTEINS - 4
    rates = np.where(present[types], 150.0, 12.0) * np.exp(rng.normal(0, 0.5, size=(N_CELLS, 1)))
    rates *= np.exp(rng.normal(0, 0.3, size=N_PROTEINS))
    proteins = rng.poisson(rates * rng.gamma(3.0, 1 / 3, size=rates.shape))
    return scipy.sparse.csr_array(rna.astype(np.float32)), proteins.astype(np.float32), types


def main() -> None:
    """Draw, cluster, print."""
    header = ["counts, counts", "counts, ratios", "logs, ratios", "components, ratios"]
    print(f"{'markers':>8} {'seed':>5}  " + "  ".join(f"{name:>18}" for name in header))
    for strength in (0.6, 1.0):
        for seed in range(3):
            rna, proteins, types = draw_cells(strength, seed)
            logs, ratios = log_normalize(rna), center_log_ratios(proteins)
            given = [(rna, proteins), (rna, ratios), (logs, ratios), (principal_components(logs), ratios)]
            found = [LateFusionClustering(N_TYPES, random_state=0).fit({"rna": a, "prot": b}) for a, b in given]
            scores = [clustering_accuracy(types, model.labels_) for model in found]
            print(f"{strength:>8} {seed:>5}  " + "  ".join(f"{score:>18.3f}" for score in scores), flush=True)


if __name__ == "__main__":
    main()
