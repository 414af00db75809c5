"""Choice of the settings of LEML and MLLRC on held-out training samples.

``python -m benchmarks.competitors`` takes a few minutes and requires the paper's files in SPMLD_DATA. The protocol and
the output are those of ``benchmarks.defaults``.
"""

from functools import partial

from benchmarks.defaults import evaluate_grid
from benchmarks.sizes import sized
from spmld import LEML, MLLRC

LEML_GRID = {
    "loss": ["squared", "logistic"],
    "fit_intercept": [False, True],
    "alpha": sized([0.1, 1.0, 5.0, 10.0, 20.0, 30.0], [1.0]),
    "n_components": [10, 1.0],
}
MLLRC_GRID = {
    "fit_intercept": [False, True],
    "completion_penalty": sized([1.0, 10.0, 100.0], [10.0]),
    "alpha": sized([10.0, 30.0, 100.0], [30.0]),
    "nuclear_penalty": sized([30.0, 300.0, 3000.0], [300.0]),
}


def main():
    print("LEML")
    evaluate_grid(partial(LEML, random_state=0), LEML_GRID)
    print("MLLRC")
    evaluate_grid(MLLRC, MLLRC_GRID)


if __name__ == "__main__":
    main()
