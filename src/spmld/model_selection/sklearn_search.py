"""GridSearchCV and RandomizedSearchCV for labels with missing entries."""

from typing import Any, Self

from sklearn import model_selection

from spmld.labels import read_labels
from spmld.labels.single_class import ignore_label_warnings, warn_of_metrics
from spmld.model_selection.cross_validation import read_scoring
from spmld.model_selection.splitters import check_splitter


class _LabelSearchMixin:
    """Mixin of searches, with `cv` and `scoring` as in `cross_validate`."""

    cv: Any
    scoring: Any

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the estimator with all candidates.

        Parameters
        ----------
        X, y
            As in `cross_validate`; y is NaN where labels are missing.
        **params
            Parameters of `fit` of the estimator, and ``groups``.

        Returns
        -------
        self
        """
        labels, settings = read_labels(y, name="y"), (self.cv, self.scoring)
        warn_of_metrics(labels)
        # scikit-learn reads its parameters in fit; they are restored afterwards.
        self.cv, self.scoring = check_splitter(self.cv, len(labels.signs), 0), read_scoring(self.scoring, labels)
        try:
            with ignore_label_warnings():
                super().fit(X, y, **params)  # type: ignore[misc]
        finally:
            self.cv, self.scoring = settings
        return self


class GridSearchCV(_LabelSearchMixin, model_selection.GridSearchCV):
    """scikit-learn's GridSearchCV for labels with missing entries.

    An integer `cv` is the number of folds of `MultilabelStratifiedKFold`, which are the same in each call, and
    `scoring` accepts the metrics of `spmld.metrics`, see `cross_validate`. All other parameters and the attributes are
    those of `sklearn.model_selection.GridSearchCV`.

    See Also
    --------
    tune : Grid, random and Optuna search, also with folds of entries.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.model_selection import GridSearchCV
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> search = GridSearchCV(MaskedLogistic(), {"C": [1e-6, 1.0]}, cv=3, scoring="log_loss").fit(data.X, data.Y)
    >>> search.best_params_
    {'C': 1.0}
    """


class RandomizedSearchCV(_LabelSearchMixin, model_selection.RandomizedSearchCV):
    """scikit-learn's RandomizedSearchCV for labels with missing entries.

    `cv` and `scoring` are as in `spmld.model_selection.GridSearchCV`. All other parameters and the attributes are those
    of `sklearn.model_selection.RandomizedSearchCV`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.model_selection import RandomizedSearchCV
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> space = {"C": loguniform(0.1, 10)}
    >>> search = RandomizedSearchCV(MaskedLogistic(), space, n_iter=2, cv=3, scoring="log_loss", random_state=0)
    >>> bool(0.1 <= search.fit(data.X, data.Y).best_params_["C"] <= 10)
    True
    """
