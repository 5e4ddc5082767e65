"""
Arrays on a device
==================

`GlobalAlignmentClustering` and `LocalAlignmentClustering` cluster torch tensors and CuPy arrays on their device. This
page runs on the CPU. For a GPU, ``device="cuda"`` is the only change.
"""

# %%
# Two views of 10 000 samples as float32 tensors.
import numpy as np
import torch

import latefusion as lf
from latefusion.plots import ConsensusDisplay

data = lf.datasets.make_views(10_000, 8, n_views=2, n_features=[64, 32], random_state=0)
device = "cpu"
views = {
    name: torch.as_tensor(array, dtype=torch.float32, device=device)
    for name, array in zip(data.views.names, data.views.arrays, strict=True)
}

# %%
# Labels, consensus and confidence are tensors on the same device. Values per view are NumPy arrays.
model = lf.GlobalAlignmentClustering(8, kernel="linear", random_state=0).fit(views)
print(type(model.consensus_), model.consensus_.dtype, model.consensus_.device)
print(f"accuracy {lf.metrics.clustering_accuracy(data.target, model.labels_):.3f}")
print(f"view weights {np.round(model.view_weights_, 3)}")

# %%
# Plots accept tensors.
ConsensusDisplay.from_estimator(model, method="pca", s=5)

# %%
# A Gaussian kernel uses landmarks. No n × n matrix is formed.
model = lf.GlobalAlignmentClustering(8, kernel="gaussian", random_state=0).fit(views)
for name, info in model.partition_info_.items():
    print(name, info)

# %%
# The same arrays in NumPy give the same clusters.
on_numpy = lf.GlobalAlignmentClustering(8, kernel="gaussian", random_state=0).fit(
    {name: view.numpy() for name, view in views.items()}
)
print(lf.metrics.adjusted_rand(on_numpy.labels_, model.labels_))
