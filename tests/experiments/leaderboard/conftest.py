import numpy as np
import pytest

import latefusion as lf


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    """Files with features and masks, kernels, unknown classes and missing rows, more samples, and no classes."""
    folder = tmp_path_factory.mktemp("data")
    data = lf.datasets.make_views(40, 3, random_state=0)
    views = {f"view_{p}": view for p, view in enumerate(data.views.arrays)}
    kernels = {f"kernel_{p}": lf.kernels.gaussian_kernel(view) for p, view in enumerate(data.views.arrays)}
    mask = np.ones((40, 3), dtype=bool)
    masks = {"mask_1": mask.copy(), "mask_size": np.ones((2, 2), dtype=bool), "mask_number": mask * 0.5}
    mask[:10, 0] = False
    np.savez(folder / "small.npz", y=data.target, **views, **masks, **{"mask_0.5": mask})
    np.savez(folder / "kernels.npz", y=data.target, **kernels)
    gaps = lf.datasets.make_views(40, 3, missing=0.2, random_state=0)
    classes = np.where(np.arange(40) < 4, -1, data.target)
    np.savez(folder / "gaps.npz", y=classes, **{f"view_{p}": view for p, view in enumerate(gaps.views.arrays)})
    np.savez(folder / "unknown.npz", y=np.full(40, -1), **views)
    np.savez(folder / "bare.npz", **views)
    larger = lf.datasets.make_views(60, 3, random_state=0)
    np.savez(folder / "larger.npz", y=larger.target, **{f"view_{p}": v for p, v in enumerate(larger.views.arrays)})
    return folder


@pytest.fixture(scope="session")
def small_sets(data_folder):
    from latefusion.experiments.leaderboard.sets import find_sets

    return {one.name: one for one in find_sets([data_folder], ["complete", "missing"], only=["small", "kernels"]).sets}
