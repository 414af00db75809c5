"""Checkpoints: what is stored, loaded and deleted."""

import numpy as np
import pytest
import torch

from spmld import GLOCAL, MaskedLogistic, MaskedRidge, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.export import Checkpoint
from spmld.labels import read_labels

DATA = make_planted(n_samples=60, random_state=0)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "new" / "folder"


def run(folder, *models, X=DATA.X, Y=DATA.Y, **options):
    """Fit models with a checkpoint; return the numbers of fits that were stored and loaded."""
    with Checkpoint(folder, **{"min_seconds": 0, **options}) as checkpoint:
        for model in models:
            model.fit(X, Y)
    return checkpoint.n_stored, checkpoint.n_loaded


def test_each_fit_is_stored_once_and_loaded_in_the_next_runs(folder):
    models = MaskedLogistic(), MaskedRidge(), GLOCAL(random_state=0)
    assert run(folder, *models) == (3, 0)
    expected = [model.decision_function(DATA.X) for model in models]
    again = MaskedLogistic(), MaskedRidge(), GLOCAL(random_state=np.int64(0))
    assert run(folder, *again[:2]) == (0, 2)
    assert run(folder, *again) == (1, 2)  # another type of the seed is another fit
    for model, scores in zip(again, expected, strict=True):
        np.testing.assert_array_equal(model.decision_function(DATA.X), scores)
    MaskedRidge().fit(DATA.X, DATA.Y)  # nothing is stored outside the block
    assert len(list(folder.iterdir())) == 4


def test_a_fit_to_other_data_or_with_other_parameters_is_another_fit(folder):
    run(folder, MaskedRidge(alpha=1.0))
    flipped = DATA.Y.copy()
    flipped[0, 0] = 1 - flipped[0, 0]
    assert run(folder, MaskedRidge(alpha=2.0)) == (1, 0)
    assert run(folder, MaskedRidge(alpha=1.0), X=2 * DATA.X) == (1, 0)
    assert run(folder, MaskedRidge(alpha=1.0), Y=flipped) == (1, 0)
    assert run(folder, MaskedRidge(alpha=1.0), Y=read_labels(DATA.Y)) == (0, 1)
    assert run(folder, GLOCAL(random_state=0), GLOCAL(random_state=0, verbose=1)) == (1, 1)


def test_a_fit_with_other_pacing_groups_is_another_fit(folder):
    model, groups = SelfPacedClassifier(random_state=0), np.arange(len(DATA.X)) % 2
    for pacing_groups in (None, groups, groups):
        expected = model.fit(DATA.X, DATA.Y, pacing_groups=pacing_groups).self_paced_weights_
        with Checkpoint(folder, min_seconds=0) as checkpoint:
            stored = model.fit(DATA.X, DATA.Y, pacing_groups=pacing_groups).self_paced_weights_
        np.testing.assert_array_equal(stored, expected)
    assert (checkpoint.n_stored, checkpoint.n_loaded) == (0, 1)


def test_loaded_fits_keep_their_parameters(folder):
    run(folder, MaskedLogistic(n_jobs=1))
    model = MaskedLogistic(n_jobs=None)
    assert run(folder, model) == (0, 1)
    assert model.n_jobs is None


def test_short_fits_random_fits_and_tensors_are_not_stored(folder):
    assert run(folder, MaskedRidge(), min_seconds=60) == (0, 0)
    assert run(folder, GLOCAL(random_state=None), GLOCAL(random_state=np.random.RandomState(0))) == (0, 0)
    assert run(folder, MaskedRidge(), X=torch.asarray(DATA.X)) == (0, 0)
    assert list(folder.iterdir()) == []


def test_the_files_of_inner_fits_are_deleted_with_the_fit_that_contains_them(folder):
    model = SelfPacedClassifier(random_state=0)
    n_stored, _ = run(folder, model)
    assert n_stored >= 1
    assert len(list(folder.iterdir())) == 1
    assert run(folder, SelfPacedClassifier(random_state=0)) == (0, 1)


def test_an_estimator_that_cannot_be_written_is_fitted_without_a_file(folder):
    class Unknown(MaskedRidge):
        pass

    assert run(folder, Unknown()) == (0, 0)
    assert not list(folder.iterdir())


def test_clearing_deletes_the_files_of_the_checkpoint_only(folder):
    run(folder, MaskedRidge())
    (folder / ".123-part-fit-1.skops").touch()
    (folder / "notes.txt").touch()
    Checkpoint(folder).clear()
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    Checkpoint(folder).clear()
    assert not folder.exists()
    Checkpoint(folder).clear()


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ValueError, match="is a file; pass the name of a folder"):
        Checkpoint(file)
    with pytest.raises(OSError, match="cannot create the checkpoint"), Checkpoint(file / "folder"):
        pass
