"""Stratified allocation of samples, or of groups of samples, to subsets."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from spmld._arrays import ROUNDING_ERROR

_CANDIDATES = 100  # units of each subset that are considered for an exchange
_POOL = 5000  # units of a subset from which the candidates are drawn
_ATTEMPTS = 1000  # maximum number of attempted exchanges, which bounds the time
_NOTHING = -1  # placeholder for a unit if a unit is moved without an exchange
_SECOND_AIM = 0.1  # weight of the observed entries relative to the positives


def allocate(
    signs: NDArray[np.int8],
    sizes: NDArray[np.intp],
    rng: np.random.RandomState,
    *,
    groups: NDArray[Any] | None = None,
    shuffle: bool = True,
    max_attempts: int = _ATTEMPTS,
) -> NDArray[np.intp]:
    r"""Allocate samples to subsets of given sizes, stratified by the observed positives of every label.

    The first step is iterative stratification (Sechidis et al., 2011): labels are processed in ascending order of
    their remaining positives, and each positive sample of a label is assigned to the subset that needs most of them.
    The second step corrects deviations of one or more by exchanges between two subsets that decrease

    .. math:: \sum_l \frac{1}{P_l} \sum_f \frac{(T_{fl} - s_f P_l)^2}{s_f}

    where :math:`T_{fl}` is the number of positives of label l in subset f, :math:`P_l` is their total number, and
    :math:`s_f` is the requested fraction of samples in f. If entries are missing, the same sum over the observed
    entries is added with a small weight. With groups, the number of samples is treated as an additional label.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_labels)
        +1, -1, and 0 where missing.
    sizes : ndarray of shape (n_parts,)
        Number of samples of each subset; their sum is n_samples.
    rng : RandomState
        Random number generator.
    groups : ndarray of shape (n_samples,), optional
        Samples of the same group are assigned to the same subset. The sizes are then approximate.
    shuffle : bool, default=True
        Whether to process the samples in random order.

    Returns
    -------
    ndarray of shape (n_samples,)
        Index of the subset of each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection._allocation import allocate
    >>> signs = np.array([[1], [1], [-1], [-1]])
    >>> part = allocate(signs, np.array([2, 2]), np.random.RandomState(0))
    >>> np.bincount(part[signs[:, 0] > 0])
    array([1, 1])
    """
    columns = [signs > 0, np.ones((len(signs), 1), dtype=bool)]
    if not signs.all():
        columns.insert(1, signs != 0)
    amounts: NDArray[Any] = np.hstack(columns)
    if groups is None:
        return _Parts(amounts, sizes, signs.shape[1], rng).fill(shuffle).mend(False, max_attempts).part
    names, group = np.unique(groups, return_inverse=True)
    summed = np.zeros((len(names), amounts.shape[1]), dtype=np.float32)
    np.add.at(summed, group, amounts)
    return _Parts(summed, sizes, signs.shape[1], rng).fill(shuffle).mend(True, max_attempts).part[group]


class _Parts:
    """State of the allocation of units, which are samples or groups of samples.

    The columns of `amounts` are to be balanced: the numbers of positives of each label, of observed entries of each
    label if some are missing, and, in the last column, of samples. `need` is the amount that each subset still needs.
    """

    def __init__(
        self, amounts: NDArray[Any], sizes: NDArray[np.intp], n_labels: int, rng: np.random.RandomState
    ) -> None:
        self.amounts = amounts
        self.n_labels = n_labels
        self.rng = rng
        self.share = sizes / sizes.sum()
        total = amounts.sum(axis=0, dtype=float)
        self.need = self.share[:, None] * total
        self.need[:, -1] = sizes
        self.importance = 1 / np.maximum(total, 1)
        self.importance[n_labels:-1] *= _SECOND_AIM
        self.part = np.full(len(amounts), -1, dtype=np.intp)

    def fill(self, shuffle: bool) -> Self:
        """Apply iterative stratification, starting with the rarest label; units without positives are last."""
        order = self.rng.permutation(len(self.part)) if shuffle else np.arange(len(self.part))
        positives = self.amounts[:, : self.n_labels]
        left = positives.sum(axis=0, dtype=float)
        while left.any():
            label = int(np.argmin(np.where(left > 0, left, np.inf)))
            units = order[positives[order, label] > 0]
            self._place(units, label)
            left -= positives[units].sum(axis=0, dtype=float)
            order = order[self.part[order] < 0]
        self._place(order, -1)
        self._leave_none_empty()
        return self

    def _place(self, units: NDArray[np.intp], column: int) -> None:
        """Assign each unit to the subset with the largest need of `column` and, among ties, the most free places."""
        units = units[np.argsort(-self.amounts[units, column].astype(float), kind="stable")]
        lack = self.need[:, column].tolist()
        room = self.need[:, -1].tolist()
        parts = range(len(room))
        chosen = []
        for amount, rows in self.amounts[units][:, [column, -1]].tolist():
            fitting = [f for f in parts if room[f] >= rows] or parts
            best = max(fitting, key=lambda f: (lack[f], room[f]))
            lack[best] -= amount
            room[best] -= rows
            chosen.append(best)
        self.part[units] = chosen
        for f in parts:
            self.need[f] -= self.amounts[units[self.part[units] == f]].sum(axis=0, dtype=float)

    def _leave_none_empty(self) -> None:
        """Move the smallest unit of the subset with the most units to each empty subset."""
        for f in np.flatnonzero(np.bincount(self.part, minlength=len(self.share)) == 0):
            donor = np.bincount(self.part).argmax()
            units = np.flatnonzero(self.part == donor)
            unit = units[np.argmin(self.amounts[units, -1])]
            self.part[unit] = f
            self.need[donor] += self.amounts[unit]
            self.need[f] -= self.amounts[unit]

    def mend(self, moves: bool, max_attempts: int) -> Self:
        """Exchange units between subsets as long as this helps; with `moves`, single units may move as well."""
        given_up = np.zeros(self.need.shape, dtype=bool)
        for _ in range(max_attempts):
            worth = np.where(given_up | (np.abs(self.need) < 1 - ROUNDING_ERROR), 0, self.need**2)
            worth *= self.importance / self.share[:, None]
            f, column = np.unravel_index(np.argmax(worth), worth.shape)
            if worth[f, column] == 0:
                break
            relative = self.need[:, column] / self.share
            rich, poor = (np.argmin(relative), f) if self.need[f, column] > 0 else (f, np.argmax(relative))
            if self._exchange(int(rich), int(poor), int(column), moves):
                given_up[:] = False
            else:
                given_up[f, column] = True
        return self

    def _exchange(self, rich: int, poor: int, column: int, moves: bool) -> bool:
        """Apply the best of the candidate exchanges if it decreases the sum; return whether it does.

        Moving the difference v of two units from subset a to subset b changes the sum by
        v' W v (1/s_a + 1/s_b) + 2 v' W (need_a/s_a - need_b/s_b) with the weights W of the columns.
        """
        given, taken = self._candidates(rich, column, 1), self._candidates(poor, column, -1)
        if moves and np.count_nonzero(self.part == rich) > 1:
            taken = np.append(taken, _NOTHING)
        root = np.sqrt(self.importance)
        A, B = self._scaled(given, root), self._scaled(taken, root)
        pull = root * (self.need[rich] / self.share[rich] - self.need[poor] / self.share[poor])
        squares = (A**2).sum(axis=1)[:, None] - 2 * A @ B.T + (B**2).sum(axis=1)
        change = squares * (1 / self.share[rich] + 1 / self.share[poor]) + 2 * ((A @ pull)[:, None] - B @ pull)
        # Rounding errors of matrix products depend on the CPU: of the changes that are equal up to rounding, take the
        # first. All other operations are exact or elementwise, and give the same result on every CPU.
        slack = ROUNDING_ERROR * max(1.0, float(np.abs(change).max()))
        i, j = np.unravel_index(np.argmax(change <= change.min() + slack), change.shape)
        if change[i, j] >= -slack:
            return False
        gain = (A[i] - B[j]) / root
        self.need[rich] += gain
        self.need[poor] -= gain
        self.part[given[i]] = poor
        if taken[j] != _NOTHING:
            self.part[taken[j]] = rich
        return True

    def _candidates(self, part: int, column: int, direction: int) -> NDArray[np.intp]:
        """Return units of a subset with the largest (or smallest) amounts in a column; ties are broken at random."""
        units = np.flatnonzero(self.part == part)
        if len(units) > _POOL:
            units = units[self.rng.randint(len(units), size=_POOL)]
        if len(units) > _CANDIDATES:
            rank = -direction * self.amounts[units, column] + self.rng.uniform(0, 0.5, size=len(units))
            # The order within a partition depends on the CPU.
            units = np.sort(units[np.argpartition(rank, _CANDIDATES)[:_CANDIDATES]])
        return units

    def _scaled(self, units: NDArray[np.intp], root: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(units[:, None] != _NOTHING, self.amounts[units] * root, 0)


def proportional_sizes(total: int, proportions: Any) -> NDArray[np.intp]:
    """Return integers that sum to `total` and differ by less than one from the proportions.

    Examples
    --------
    >>> from spmld.model_selection._allocation import proportional_sizes
    >>> proportional_sizes(11, [0.5, 0.25, 0.25])
    array([5, 3, 3])
    """
    exact = total * np.asarray(proportions, dtype=float) / np.sum(proportions)
    sizes: NDArray[np.intp] = np.floor(exact + ROUNDING_ERROR).astype(np.intp)
    sizes[np.argsort(sizes - exact, kind="stable")[: total - sizes.sum()]] += 1
    return sizes


def read_groups(groups: Any, n_samples: int, n_subsets: int, name: str) -> NDArray[Any] | None:
    """Return the groups as an array; raise ValueError if there are fewer samples, or groups, than subsets."""
    values = None if groups is None else column_or_1d(groups)
    if values is not None and len(values) != n_samples:
        raise ValueError(f"groups must have one entry for each of the {n_samples} samples, got {len(values)}")
    available, units = (n_samples, "samples") if values is None else (len(np.unique(values)), "groups")
    if n_subsets > available:
        raise ValueError(f"{name} must define at most {available} subsets, the number of {units}, got {n_subsets}")
    return values
