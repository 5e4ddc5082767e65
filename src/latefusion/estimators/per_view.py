"""Transformers of scikit-learn, applied to every view on its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from latefusion.types import Array, Views
from latefusion.validation import is_collection, is_frame, per_view
from latefusion.validation.holes import empty_rows
from latefusion.validation.views import named_views


class PerView(TransformerMixin, BaseEstimator):
    """A transformer for every view, as a step of a `Pipeline` over several views.

    Parameters
    ----------
    transformer : transformer, "passthrough", or mapping of str to these
        The same for all views, or by name of the view. Views that a mapping does not contain are passed on unchanged.

    Attributes
    ----------
    transformers_ : dict of str to transformer
        A fitted clone for every view; None for views that are passed on.

    See Also
    --------
    LateFusionClustering : Its parameter `encoders` does the same inside the estimator, and stores the transformers in
        the model file.

    Notes
    -----
    A transformer is fitted on the samples that have the view. Rows of samples without the view stay missing.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import latefusion as lf
    >>> data = lf.datasets.make_views(n_samples=90, n_clusters=3, random_state=0)
    >>> model = make_pipeline(lf.PerView(StandardScaler()), lf.LateFusionClustering(3, random_state=0))
    >>> model.fit_predict(data.views).shape
    (90,)
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> PerView:
        """Fit a clone of the transformer to every view.

        Parameters
        ----------
        X : list, dict or `Views` of arrays and data frames
        y : ignored

        Returns
        -------
        self
        """
        views = _named(X)
        given = per_view(self.transformer, list(views), "transformer", default="passthrough")
        self.transformers_: dict[str, Any] = {}
        for (name, view), one in zip(views.items(), given, strict=True):
            if isinstance(one, str) and one == "passthrough":
                self.transformers_[name] = None
                continue
            if not (hasattr(one, "fit") and hasattr(one, "transform")):
                raise ValueError(
                    f"The transformer of view {name!r} must have the methods fit and transform, or be 'passthrough'; "
                    f"got {one!r}."
                )
            self.transformers_[name] = clone(one).fit(_rows(view, _observed(X, name, view)))
        return self

    def transform(self, X: Any) -> Any:
        """The transformed views.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list, dict or Views
            A container of the same kind.
        """
        check_is_fitted(self)
        views = _named(X)
        unknown = [name for name in views if name not in self.transformers_]
        if unknown:
            raise ValueError(f"PerView was fitted on the views {list(self.transformers_)}; got also {unknown}.")
        found = {name: self._apply(name, view, _observed(X, name, view)) for name, view in views.items()}
        if isinstance(X, Views):
            return Views(found, mask=X.mask, sample_ids=X.sample_ids)
        return found if isinstance(X, Mapping) else list(found.values())

    def _apply(self, name: str, view: Any, observed: NDArray[np.bool_] | None) -> Any:
        transformer = self.transformers_[name]
        if transformer is None:
            return view
        part = transformer.transform(_rows(view, observed))
        if observed is None:
            return part
        values = part.toarray() if hasattr(part, "toarray") else np.asarray(part)
        whole = np.full((len(observed), values.shape[1]), np.nan, dtype=np.result_type(values.dtype, np.float32))
        whole[observed] = values
        return whole

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transformers_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        return tags


def _named(X: Any) -> dict[str, Any]:
    if not is_collection(X) or getattr(X, "ndim", 2) == 3:
        raise ValueError(
            f"PerView needs several views: a list, a dict or Views of arrays; got {type(X).__name__}. Use the "
            f"transformer itself for one table."
        )
    return named_views(X)


def _observed(X: Any, name: str, view: Any) -> NDArray[np.bool_] | None:
    """Which samples have the view; None for all."""
    if isinstance(X, Views) and X.mask is not None:
        observed = X.mask[:, X.names.index(name)]
        return None if observed.all() else observed
    if is_frame(view) or not (isinstance(view, np.ndarray) and view.dtype.kind == "f"):
        return None
    empty = empty_rows(view)
    return ~empty if empty.any() else None


def _rows(view: Array, observed: NDArray[np.bool_] | None) -> Array:
    return view if observed is None else Views([view])[np.flatnonzero(observed)].arrays[0]
