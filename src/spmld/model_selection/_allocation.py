"""Allocation of rows, or groups of rows, to parts so that every label is spread evenly."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_CANDIDATES = 100  # units looked at on each side of an exchange
_POOL = 5000  # units of a part among which the candidates are sought
_ATTEMPTS = 1000  # exchanges tried at most, so that the time stays bounded
_NOTHING = -1  # in the place of a unit, where one is given for nothing in return
_SECOND_AIM = 0.1  # weight of the observed entries beside the positives
_ROUNDING = 1e-9  # relative difference below which changes are equal: rounding errors depend on the CPU


def allocate(
    signs: NDArray[np.int8],
    sizes: NDArray[np.intp],
    rng: np.random.RandomState,
    *,
    groups: NDArray[Any] | None = None,
    shuffle: bool = True,
) -> NDArray[np.intp]:
    r"""Allocate each row to a part, so that the parts have the given sizes and every label is spread evenly.

    First the labels are taken one by one, the one with the fewest positives left first, and each of its rows goes
    where the label lacks most (iterative stratification, Sechidis et al. 2011). What is still off by one or more is
    then mended by exchanges between two parts that make

    .. math:: \sum_l \frac{1}{P_l} \sum_f \frac{(T_{fl} - s_f P_l)^2}{s_f}

    fall, where :math:`T_{fl}` counts the positives of label l in part f, :math:`P_l` those in all, and :math:`s_f` is
    the share of the rows meant for f. Where entries are missing, the same sum over the observed entries is added with
    a small weight; with groups, the rows of a part count as one more label.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_labels)
        +1, -1, and 0 where unobserved.
    sizes : ndarray of shape (n_parts,)
        Rows of each part; their sum is n_samples.
    rng : RandomState
        Source of chance.
    groups : ndarray of shape (n_samples,), optional
        Rows with the same value go to the same part. The sizes are then kept as well as the groups allow.
    shuffle : bool
        Whether to take the rows in random order, or as they come.

    Returns
    -------
    ndarray of shape (n_samples,)
        The part of each row.

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
        return _Parts(amounts, sizes, signs.shape[1], rng).fill(shuffle).mend(moves=False).part
    names, group = np.unique(groups, return_inverse=True)
    summed = np.zeros((len(names), amounts.shape[1]), dtype=np.float32)
    np.add.at(summed, group, amounts)
    return _Parts(summed, sizes, signs.shape[1], rng).fill(shuffle).mend(moves=True).part[group]


class _Parts:
    """Units (rows or groups) on their way into parts.

    Each unit brings amounts to be spread, one in each column: the positives of each label, the observed entries of
    each label if some are missing, and in the last column its rows. `need` is what each part still lacks.
    """

    def __init__(
        self, amounts: NDArray[Any], sizes: NDArray[np.intp], n_labels: int, rng: np.random.RandomState
    ) -> None:
        self.amounts, self.n_labels, self.rng = amounts, n_labels, rng
        self.share = sizes / sizes.sum()
        total = amounts.sum(axis=0, dtype=float)
        self.need = self.share[:, None] * total
        self.need[:, -1] = sizes
        self.importance = 1 / np.maximum(total, 1)
        self.importance[n_labels:-1] *= _SECOND_AIM
        self.part = np.full(len(amounts), -1, dtype=np.intp)

    def fill(self, shuffle: bool) -> Self:
        """Iterative stratification, the rarest label first, units without positives last."""
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
        """Put each unit where `column` lacks most, among equals where there is most room."""
        units = units[np.argsort(-self.amounts[units, column].astype(float), kind="stable")]
        lack, room = self.need[:, column].tolist(), self.need[:, -1].tolist()
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
        """Large groups may have gone past a small part; it then gets the smallest unit of the part with most units."""
        for f in np.flatnonzero(np.bincount(self.part, minlength=len(self.share)) == 0):
            donor = np.bincount(self.part).argmax()
            units = np.flatnonzero(self.part == donor)
            unit = units[np.argmin(self.amounts[units, -1])]
            self.part[unit] = f
            self.need[donor] += self.amounts[unit]
            self.need[f] -= self.amounts[unit]

    def mend(self, moves: bool) -> Self:
        """Exchange units between two parts while that helps; with `moves`, a unit may go for nothing in return."""
        given_up = np.zeros(self.need.shape, dtype=bool)
        for _ in range(_ATTEMPTS):
            worth = np.where(given_up | (np.abs(self.need) < 1 - 1e-9), 0, self.need**2)
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
        """Make the best of the exchanges looked at, if it makes the sum fall.

        Giving the difference v of two units from part a to part b changes the sum by
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
        slack = _ROUNDING * max(1.0, float(np.abs(change).max()))
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
        """Units of a part with the most (or least) of a column, chosen by chance among equals."""
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
