"""Text on the command line: embeddings of a model in a folder."""

import numpy as np
import pandas as pd
import pytest

from tests.app.commands.songs import run
from tests.tables.static_models import write_static_model

FIT = ("fit", "train.csv", "-o", "m.skops", "--method", "MaskedLogistic", "--no-held-out", "--force")


@pytest.fixture
def folder(tmp_path):
    write_static_model(tmp_path / "model")
    train = pd.DataFrame({"review": ["slow song number", "loud song number"] * 20, "label_calm": [1, 0] * 20})
    train.to_csv(tmp_path / "train.csv", index=False)
    new = pd.DataFrame({"review": ["calm song number", None, "noisy song number"], "year": 2024})
    new.to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_embeddings_generalize_to_synonyms(folder):
    """A word that the training texts lack is known to the model; a missing text has no evidence."""
    status, _, err = run(folder, *FIT, "--text", "review", "--embed", "model")
    assert status == 0, err
    status, out, _ = run(folder, "predict", "m.skops", "new.csv", "--probabilities")
    calm, missing, noisy = map(float, out.split()[1:])
    assert calm > missing > noisy
    run(folder, *FIT, "--text", "review")
    words = np.array(run(folder, "predict", "m.skops", "new.csv", "--probabilities")[1].split()[1:], dtype=float)
    assert calm - noisy > 3 * abs(words[0] - words[2])


def test_errors_name_the_folder_and_what_is_accepted(folder):
    for options, message in (
        (("--text", "review", "--embed", "none"), "got 'none', which is neither a folder nor an installed package"),
        (("--text", "review", "--embed", "."), "a folder without config.json and tokenizer.json"),
        (("--category", "review", "--embed", "model"), "requires a text column"),
        (("--text", "revue", "--embed", "model"), "column 'revue' of text does not exist; did you mean 'review'?"),
    ):
        status, _, err = run(folder, *FIT, *options)
        assert (status, message in err) == (2, True), err
    run(folder, *FIT, "--text", "review", "--embed", "model")
    expected = run(folder, "predict", "m.skops", "new.csv")
    (folder / "model").rename(folder / "moved")
    status, _, err = run(folder, "predict", "m.skops", "new.csv")
    assert (status, "got 'model', which is neither a folder" in err) == (2, True), err
    assert run(folder, "predict", "m.skops", "new.csv", "--embed", "moved") == expected
