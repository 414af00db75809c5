"""Use of an installed wheel, without the rest of the repository: ``python -I tests/smoke.py``, see ``make smoke``."""

import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import files, version
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import spmld
from spmld.datasets import make_songs


def main():
    """Fit, save, load and predict in Python and by commands."""
    assert Path(spmld.__file__).is_relative_to(sysconfig.get_path("purelib")), spmld.__file__
    assert version("spmld") == spmld.__version__
    assert {path.parts[0].partition("-")[0] for path in files("spmld") if ".." not in path.parts} == {"spmld"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        songs = make_songs(300, 4, observed_fraction=0.5, random_state=0)
        model = make_pipeline(TfidfVectorizer(), spmld.SelfPacedEnsemble(random_state=0)).fit(songs.texts, songs.Y)
        spmld.save(model, folder / "model.skops")
        predicted = spmld.load(folder / "model.skops").predict(songs.texts)
        np.testing.assert_array_equal(predicted, model.predict(songs.texts))
        spmld_command = Path(sysconfig.get_path("scripts"), "spmld")

        def run(command):
            subprocess.run([spmld_command, *command.split()], cwd=folder, check=True)

        make_songs(300, 4, as_frame=True, random_state=0).frame.to_csv(folder / "songs.csv", index=False)
        run("fit songs.csv --text review --tags tags --id song_id --no-held-out -o songs.skops")
        run("predict songs.skops songs.csv -o predicted.csv")
        run("report songs.csv --model songs.skops -o report.html")
        assert (folder / "predicted.csv").stat().st_size > 0
    print(f"spmld {spmld.__version__} on Python {sys.version.split()[0]}: installed, fitted, saved, loaded, predicted")


if __name__ == "__main__":
    main()
