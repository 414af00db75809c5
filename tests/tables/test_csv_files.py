"""Damaged CSV files raise errors that name the line, and their numbers and identifiers are exact."""

import warnings

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import read_dataset
from spmld.tables import TableEncoder, TableError, TableWarning, read_table
from spmld.tables.reading import read_table_blocks


def write(folder, text):
    path = folder / "file.csv"
    path.write_text(text, newline="")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\ufeff", "no line with the names of the columns"),
        ("\r\n\r\n", "no line with the names of the columns"),
        ('a,b\n1,2\n3,"x\n4,5\n', "a quote in line 3 is not closed"),
        (
            'a,b\n1,"2\n\n",\n',
            "the row in lines 2 to 4, in which a quote may not be closed, has 3 values, but there are 2",
        ),
        ('a,b\n1,2\n"x,3\n4,5\n"y,6\n', "a quote in line 3 is not closed"),
        ('a,b\n1,"x\ny"\n3\n', "line 4 has 1 values, but there are 2 columns"),
    ],
)
@pytest.mark.parametrize("n_rows", [None, 1])
def test_errors_name_the_line(text, message, n_rows, tmp_path):
    with pytest.raises(ValueError, match=message):
        list(read_table_blocks(write(tmp_path, text), n_rows=n_rows))


def test_lines_of_spaces_are_blank(tmp_path):
    assert read_table(write(tmp_path, "\n  \na,b\n1,2\n   \n3,4\n")).to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_long_identifiers_are_exact_if_one_is_missing(tmp_path):
    ids = ["1234567890123456789", "1234567890123456788", "36893488147419103232"]
    path = write(tmp_path, f"sid,x,tags\n{ids[0]},1,a\n,2,b\n{ids[1]},3,a\n{ids[2]},4,b\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        assert read_dataset(path, id="sid", tags="tags").sample_names == [ids[0], "", *ids[1:]]
        number = read_dataset(path, number="sid", tags="tags")
    assert number.feature_names == ["sid", "x", "sid (missing)"]


@pytest.mark.parametrize("values", [[1.7e308, -1.7e308, 1, 2], [1e160, 0, 1, 2]])
def test_numbers_that_cannot_be_scaled_raise_with_the_column(values):
    frame = pd.DataFrame({"price": values * 4, "format": ["tape", "file"] * 8})
    with pytest.raises(TableError, match=r"'price' has numbers up to 1.*e\+.*drop='price'"):
        TableEncoder().fit(frame)
    small = TableEncoder().fit_transform(frame.assign(price=np.array(values * 4) / 1e300))
    assert np.isfinite(small).all()
