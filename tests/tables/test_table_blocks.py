"""Tables in blocks of rows equal the whole table."""

import pandas as pd
import pytest

from spmld.tables import read_table
from spmld.tables.reading import read_table_blocks

COLUMNS = {
    "integer": [1, 2, 3, 4, 5, 6],
    "becomes_float": [1, 2, 3, 4.5, 5, 6],
    "becomes_text": [1, 2, 3, 4, "five", 6],
    "begins_empty": [None, None, None, 4, 5, 6],
    "text_after_gaps": [None, None, None, None, "a,b", 'c "d"'],
    "zeros": ["01", "02", "03", "04", "05", "x6"],
    "truth": ["True", "False", "True", "True", "False", "False"],
    "truth_or_number": ["True", "False", "True", 1, 0, 1],
    "lines": ["a\nb", "c", "d", "e\nf", "g", "h"],
    "date": ["2024-01-02"] * 6,
}


@pytest.mark.parametrize("n_rows", [1, 2, 4, 5, 6, 7])
@pytest.mark.parametrize("sep", [",", ";"])
def test_blocks_of_a_csv_file_are_the_whole_table(tmp_path, n_rows, sep):
    file = tmp_path / "songs.csv"
    pd.DataFrame(COLUMNS).to_csv(file, sep=sep, index=False)
    blocks = list(read_table_blocks(file, n_rows=n_rows))
    assert [len(block) for block in blocks] == [len(range(i, min(i + n_rows, 6))) for i in range(0, 6, n_rows)]
    pd.testing.assert_frame_equal(pd.concat(blocks), read_table(file))


@pytest.mark.parametrize("n_rows", [1, 4, 7])
def test_blocks_of_a_parquet_file_are_the_whole_table(tmp_path, n_rows):
    file = tmp_path / "songs.parquet"
    pd.DataFrame({"tempo": [1.5, None, 3, 4, 5, 6], " title ": list("abcdef"), "n": range(6)}).to_parquet(file)
    blocks = list(read_table_blocks(file, n_rows=n_rows))
    assert len(blocks) == -(-6 // n_rows)
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), read_table(file))


def test_tables_without_rows_are_one_block(tmp_path):
    for name, write in (("songs.csv", pd.DataFrame.to_csv), ("songs.parquet", pd.DataFrame.to_parquet)):
        write(pd.DataFrame({"tempo": []}), tmp_path / name, index=False)
        (block,) = read_table_blocks(tmp_path / name)
        assert (list(block.columns), len(block)) == (["tempo"], 0)


def test_other_formats_are_one_block(tmp_path):
    file = tmp_path / "songs.jsonl"
    file.write_text('{"tempo": 1}\n{"tempo": 2}\n')
    (block,) = read_table_blocks(file, n_rows=1)
    assert block.tempo.tolist() == [1, 2]


@pytest.mark.parametrize("n_rows", [1, 10])
def test_errors_name_the_file_and_the_line(tmp_path, n_rows):
    file = tmp_path / "songs.csv"
    file.write_text("a,b\n1,2\n3,4\n5\n")
    with pytest.raises(
        ValueError, match=r"songs\.csv cannot be read as a CSV file: line 4 has 1 values, but there are 2"
    ):
        list(read_table_blocks(file, n_rows=n_rows))
    file.write_text("a, a\n1,2\n3,4\n")
    with pytest.raises(ValueError, match=r"several columns are named 'a'; rename them"):
        list(read_table_blocks(file, n_rows=n_rows))


def test_parquet_files_that_describe_too_much_data_raise(tmp_path, monkeypatch):
    """A damaged file can declare half a terabyte, for which memory cannot be reserved."""
    file = tmp_path / "songs.parquet"
    pd.DataFrame({"tempo": [1.5]}).to_parquet(file)

    def fail(*_, **__):
        raise MemoryError("malloc of size 549755813888 failed")

    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", fail)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.iter_batches", fail)
    for read in (read_table, lambda path: list(read_table_blocks(path))):
        with pytest.raises(
            ValueError, match=r"songs\.parquet .*damaged, or needs more memory than is available: malloc"
        ):
            read(file)
