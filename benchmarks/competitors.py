"""What settings suit LEML and MLLRC: on training samples held out from the fit, never on test samples.

``python -m benchmarks.competitors`` takes some minutes and needs the paper's files below SPMLD_DATA. Protocol and table are
those of ``benchmarks.defaults``.
"""

from functools import partial

from benchmarks.defaults import choose
from spmld import LEML, MLLRC

LEML_GRID = {
    "loss": ["squared", "logistic"],
    "fit_intercept": [False, True],
    "ridge": [0.1, 1.0, 5.0, 10.0, 20.0, 30.0],
    "n_components": [10, 1.0],
}
MLLRC_GRID = {
    "fit_intercept": [False, True],
    "completion": [1.0, 10.0, 100.0],
    "ridge": [10.0, 30.0, 100.0],
    "nuclear": [30.0, 300.0, 3000.0],
}


def main():
    print("LEML")
    choose(partial(LEML, random_state=0), LEML_GRID)
    print("MLLRC")
    choose(MLLRC, MLLRC_GRID)


if __name__ == "__main__":
    main()
