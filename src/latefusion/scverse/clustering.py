"""Clustering of cells in one call: read the views, cluster, write the results."""

from __future__ import annotations

from typing import Any

from latefusion.estimators import LateFusionClustering
from latefusion.scverse.annotation import annotate
from latefusion.scverse.reading import UseRep, read_views


def cluster(
    data: Any,
    n_clusters: Any = "auto",
    *,
    key_added: str = "latefusion",
    use_rep: UseRep = None,
    weight_key: str | None = "mod_weight",
    random_state: Any = 0,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Cluster cells by all modalities of a MuData object, or by several representations of an AnnData object.

    Cells with missing modalities are clustered by the others.

    Parameters
    ----------
    data : MuData or AnnData
        Written to, unless ``copy=True``.
    n_clusters : int, "auto" or range, default="auto"
    key_added : str, default="latefusion"
        Name of the results, see `annotate`.
    use_rep : str, sequence or mapping of str to str, default=None
        The representation of every modality, see `read_views`. By default ``X_pca`` or ``X_lsi``, if it exists, and
        otherwise ``X`` with normalised counts.
    weight_key : str, default="mod_weight"
        Suffix of the columns with the weights of modalities for every cell; None omits them.
    random_state : int, RandomState or None, default=0
    copy : bool, default=False
        Whether to return a copy with the results and leave ``data`` unchanged.
    **options : keyword arguments
        All other parameters of `LateFusionClustering`.

    Returns
    -------
    MuData, AnnData or None
        None unless ``copy=True``.

    Notes
    -----
    This function calls ``read_views`` and ``annotate``. With these, any estimator can be used, and kept:
    ``model = GlobalAlignmentClustering(8).fit(read_views(mdata).views); annotate(mdata, model)``.

    Examples
    --------
    >>> import anndata
    >>> import latefusion as lf
    >>> from latefusion.scverse import cluster
    >>> views = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0).views
    >>> adata = anndata.AnnData(obsm=dict(views.items()))
    >>> cluster(adata, 3, use_rep=["view_0", "view_1"])
    >>> sorted(adata.obs["latefusion"].cat.categories), adata.obsm["X_latefusion"].shape
    (['0', '1', '2'], (90, 3))
    """
    if copy:
        data = data.copy()
    reading = read_views(data, use_rep)
    model = LateFusionClustering(n_clusters, random_state=random_state, **options).fit(reading.views)
    annotate(data, model, key_added=key_added, weight_key=weight_key, read_as=reading.read_as)
    return data if copy else None
