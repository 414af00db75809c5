"""Estimators for Dask arrays and data frames."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spmld._io import need
from spmld.dask.collections import active_client, collect, is_collection
from spmld.estimators import (
    GLOCAL,
    LEML,
    SPMLD,
    Completion,
    MaskedLogistic,
    MaskedRidge,
    MultiLabelEstimator,
    SelfPacedEnsemble,
)


class DaskEstimator(MultiLabelEstimator):
    """Base class: fits to Dask collections, and lazy predictions. Subclasses inherit from it and from an estimator."""

    def fit(self, X: Any, y: Any = None, mask: Any = None, entry_weight: Any = None, trusted: Any = None) -> Any:
        """Fit the estimator to the observed labels, on the workers of the active client.

        In the block of a `spmld.persistence.Checkpoint`, the variables are stored after each outer iteration, and the
        same call continues after the last one if the client was stopped.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            Training samples, in dense or sparse blocks of any size.
        y, mask, entry_weight : Dask array or data frame, or array in memory
            As in the ordinary estimator. Collections have blocks of the same rows as X, or known sizes.
        trusted : None
            Not supported.

        Returns
        -------
        self
        """
        self._validate_params()
        self._check_parameters()
        return self._fit_data(collect(active_client(), X, y, mask, entry_weight), trusted)

    def to_local(self) -> Any:
        """Return the ordinary estimator with the same parameters and, after a fit, the same fitted attributes."""
        local = self._local_class(**self.get_params(deep=False))
        fitted = {name: value for name, value in vars(self).items() if name not in vars(local)}
        vars(local).update(fitted)
        return local

    @property
    def _local_class(self) -> Any:
        return next(cls for cls in type(self).__mro__ if cls.__module__.startswith("spmld.estimators"))

    def decision_function(self, X: Any) -> Any:
        """Return the scores: lazily for Dask collections, block by block."""
        return self._predict_lazily("decision_function", X, float)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each label: lazily for Dask collections, block by block."""
        return self._predict_lazily("predict_proba", X, float)

    def predict(self, X: Any) -> Any:
        """Predict the labels: lazily for Dask collections, block by block."""
        check_is_fitted(self)
        return self._predict_lazily("predict", X, self.classes_.dtype)

    def complete(self, X: Any, y: Any = None, mask: Any = None) -> Completion:
        """Predict the missing entries of a label matrix: lazily for Dask arrays, block by block.

        Parameters
        ----------
        X, y
            Dask arrays, or arrays in memory. Missing entries of y are NaN.
        mask : None or array in memory
            As in the ordinary estimator, if X is in memory.

        Returns
        -------
        Completion
            ``labels``, in which observed labels are unchanged, and ``confidences``.
        """
        check_is_fitted(self)
        local, l = self.to_local(), self.n_labels_
        if not is_collection(X):
            return local.complete(X, y, mask)
        if mask is not None or self._labels.one_dimensional or not hasattr(y, "rechunk"):
            raise ValueError(
                "y must be a Dask array of shape (n_samples, n_labels) with NaN where missing, without mask"
            )
        X, y = X.rechunk({1: -1}), y.rechunk((X.chunks[0], -1))
        both = X.map_blocks(
            partial(_complete_block, local), y, chunks=(X.chunks[0], (2 * l,)), dtype=float, meta=np.empty((0, 0))
        )
        return Completion(both[:, :l].astype(self.classes_.dtype), both[:, l:])

    def _predict_lazily(self, method: str, X: Any, dtype: Any) -> Any:
        check_is_fitted(self)
        local = self.to_local()
        if not is_collection(X):
            return getattr(local, method)(X)
        proba = method == "predict_proba"
        vector = self._labels.one_dimensional and not proba
        names = list(self.classes_) if self._labels.one_dimensional else self.label_names_
        predict = partial(_predict_block, local, method, len(names), vector, dtype)
        if hasattr(X, "map_partitions"):
            pandas = need("pandas")
            meta = pandas.Series(dtype=dtype) if vector else pandas.DataFrame(columns=names, dtype=dtype)
            return X.map_partitions(partial(_predict_frame, predict, names, vector), meta=meta)
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        if vector:
            return X.map_blocks(predict, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype=dtype))
        return X.map_blocks(
            predict, chunks=(X.chunks[0], (len(names),)), dtype=dtype, meta=np.empty((0, 0), dtype=dtype)
        )


def _predict_block(model: Any, method: str, width: int, vector: bool, dtype: Any, X: Any) -> Any:
    """Return the predictions of a block, which may be empty."""
    if X.shape[0] == 0:
        return np.empty((0,) if vector else (0, width), dtype=dtype)
    return getattr(model, method)(X)


def _complete_block(model: Any, X: Any, Y: Any) -> Any:
    """Return completed labels and confidences side by side."""
    if X.shape[0] == 0:
        return np.empty((0, 2 * model.n_labels_))
    if not np.isnan(Y).all():
        return np.hstack(model.complete(X, Y))
    p = model.predict_proba(X)
    return np.hstack([model.classes_[(p > 0.5).astype(int)], np.maximum(p, 1 - p)])


def _predict_frame(predict: Any, names: list[Any], vector: bool, X: Any) -> Any:
    """Return the predictions of a data frame as a data frame or a series."""
    pandas, values = need("pandas"), predict(X)
    return pandas.Series(values, index=X.index) if vector else pandas.DataFrame(values, index=X.index, columns=names)


class DaskMaskedLogistic(DaskEstimator, MaskedLogistic):
    """`MaskedLogistic` for Dask collections.

    Parameters, fitted attributes and results are those of `MaskedLogistic`. All labels are solved together on the
    workers; `n_jobs` is ignored.

    Examples
    --------
    >>> from spmld.dask import DaskMaskedLogistic
    >>> model = DaskMaskedLogistic(C=0.1)  # with an active client: .fit(X, Y) for Dask arrays X and Y
    >>> model.to_local()
    MaskedLogistic(C=0.1)
    """


class DaskMaskedRidge(DaskEstimator, MaskedRidge):
    """`MaskedRidge` for Dask collections, see `DaskMaskedLogistic`.

    Examples
    --------
    >>> from spmld.dask import DaskMaskedRidge
    >>> DaskMaskedRidge(alpha=0.1).to_local()
    MaskedRidge(alpha=0.1)
    """


class DaskSPMLD(DaskEstimator, SPMLD):
    """`SPMLD` for Dask collections.

    Parameters, fitted attributes and results are those of `SPMLD`, but `latent_labels_` and `self_paced_weights_`,
    which have one row per sample, are not set. Features are scaled and stored on the workers. `solver` must be "exact".

    Examples
    --------
    >>> from spmld.dask import DaskSPMLD
    >>> DaskSPMLD(n_components=5).to_local()
    SPMLD(n_components=5)
    """


class DaskGLOCAL(DaskEstimator, GLOCAL):
    """`GLOCAL` for Dask collections, see `DaskSPMLD`.

    Examples
    --------
    >>> from spmld.dask import DaskGLOCAL
    >>> DaskGLOCAL(n_groups=2).to_local()
    GLOCAL(n_groups=2)
    """


class DaskSelfPacedEnsemble(DaskEstimator, SelfPacedEnsemble):
    """`SelfPacedEnsemble` for Dask collections.

    Parameters, fitted attributes and results are those of `SelfPacedEnsemble`, but `self_paced_weights_` and
    `out_of_fold_scores_`, which have one row per sample, are not set. Out-of-fold scores stay on the workers.
    `n_jobs` is ignored.

    Examples
    --------
    >>> from spmld.dask import DaskSelfPacedEnsemble
    >>> DaskSelfPacedEnsemble(keep_fraction=0.9).to_local()
    SelfPacedEnsemble(keep_fraction=0.9)
    """


class DaskLEML(DaskEstimator, LEML):
    """`LEML` for Dask collections.

    Parameters, fitted attributes and results are those of `LEML`.

    Examples
    --------
    >>> from spmld.dask import DaskLEML
    >>> DaskLEML(alpha=1.0).to_local()
    LEML(alpha=1.0)
    """
