"""The paper's closed form of the self-paced weights, and the weights over its ranges of lambda and gamma."""

import numpy as np
import pytest

from spmld import SPMLD
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.pacing import exact_weights


def closed_form(losses, threshold, gamma):
    """Return the weights of equation 14 for sorted losses, with the breaking point from all indices below theta_2."""
    theta_2 = int(np.searchsorted(losses, threshold)) + 1
    candidates = []
    for theta_1 in range(int(np.searchsorted(losses, threshold - gamma, side="right")), theta_2):
        slack = threshold - losses[theta_1 : theta_2 - 1]
        gap = gamma**2 - np.sum(slack**2)
        if gap > 0:
            c = np.sqrt(theta_1 / gap)
            norm = np.sqrt(theta_1 + c**2 * np.sum(slack**2))
            value = losses[:theta_1].sum() - threshold * (theta_1 + c * slack.sum()) + gamma * norm
            candidates.append((value, [1.0] * theta_1 + list(c * slack) + [0.0] * (len(losses) - theta_2 + 1)))
    return min(candidates)[1]


def test_the_closed_form_of_the_paper_has_weights_above_1():
    losses = np.array([0.0, 0.1])
    assert closed_form(losses, 1.0, 1.0) == pytest.approx([1.0, 2.06], abs=0.005)
    np.testing.assert_allclose(exact_weights(losses, 1.0, 1.0), [1.0, 1.0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("parameters", "low", "high"),
    [({}, 0.95, 1.0), ({"threshold": 5e-6}, 0.0, 0.0), ({"diversity": 5.0}, 0.0, 0.0)],
)
def test_mean_weights_of_the_first_ten_iterations(parameters, low, high):
    data = make_planted(n_samples=300, n_features=15, n_labels=8, random_state=0)
    model = SPMLD.paper(random_state=0, max_iter=10)
    model.set_params(**{f"pacing__schedule__{name}": value for name, value in parameters.items()})
    model.fit(data.X, hide_labels(data.Y, 0.3, random_state=0))
    weights = [record["mean_weight"] for record in model.history_ if record["stage"] == "main"]
    assert len(weights) == 10
    assert low <= min(weights) <= max(weights) <= high
