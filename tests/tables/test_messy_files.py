"""Messy files are read as the clean table, with a note about each guess, or refused with the option to pass."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from spmld.datasets import from_frame, read_dataset
from spmld.tables import TableWarning
from tests.tables.messy_files import FILES

CLEAN = {}
"""Data sets of the clean tables, of which several files have the same."""


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def read(file, folder):
    """Return the data set and the notes of its reader."""
    file.write(folder / "file")
    (path,) = folder.iterdir()
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        data = read_dataset(path, **file.options)
    return data, [str(note.message) for note in notes if isinstance(note.message, TableWarning)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.id)
def test_no_file_is_silently_misread(file, tmp_path):
    if file.error:
        with pytest.raises(ValueError) as error:  # noqa: PT011, the message is tested below
            read(file, tmp_path)
        for text in file.error:
            assert text in str(error.value)
        return
    data, notes = read(file, tmp_path)
    for text in file.notes:
        assert any(text in note for note in notes), notes
    assert all(any(text in note for text in file.notes) for note in notes), notes  # no note about a clean column
    content = file.truth.to_csv()
    if content not in CLEAN:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            CLEAN[content] = from_frame(file.truth)
    clean = CLEAN[content]
    if file.id == "tags-mixed":  # not read right, but the note names the option with which it is
        assert set(clean.label_names) < set(data.label_names)
        (path,) = tmp_path.iterdir()
        data = read_dataset(path, tags="tags", tag_sep=";,")
    assert list(data.feature_names) == list(clean.feature_names)
    np.testing.assert_allclose(dense(data.X), dense(clean.X), atol=1e-12)
    assert list(data.label_names) == list(clean.label_names)
    np.testing.assert_array_equal(data.Y, clean.Y)
