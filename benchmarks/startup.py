"""Time until something happens: import, help, loading a model and its first prediction.

``python -m benchmarks.startup`` prints the seconds of new processes, the fastest of three, and beside them those of
``import sklearn`` and of ``import skops.io``, which loading a model needs.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.ratios import fastest_time
from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble, save
from spmld.datasets import make_planted

LOAD = "load a model, first prediction"
PREDICT = "import spmld, numpy; spmld.load({path!r}).predict(numpy.zeros((1, {d})))"


def main():
    data = make_planted(n_samples=300, random_state=0)
    model = SelfPacedEnsemble(random_state=0).fit(data.X, data.Y)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.skops")
        save(model, path)
        commands = {
            "import spmld": ["-c", "import spmld"],
            "spmld --help": ["-m", "spmld.app.commands", "--help"],
            "import sklearn.base": ["-c", "import sklearn.base"],
            "import skops.io": ["-c", "import skops.io"],
            LOAD: ["-c", PREDICT.format(path=path, d=data.X.shape[1])],
        }
        for name in sized(tuple(commands), (LOAD,)):
            seconds = fastest_time(
                lambda a=commands[name]: subprocess.run([sys.executable, *a], capture_output=True, check=True)
            )
            print(f"{name:<32}{seconds:6.2f} s")
    print(f"{'first prediction alone':<32}{fastest_time(lambda: model.predict(data.X[:1]), repeats=1):6.3f} s")


if __name__ == "__main__":
    main()
