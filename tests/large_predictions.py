"""Peak memory of ``spmld predict`` as files grow tenfold: ``python -m tests.large_predictions [ROWS] [FORMAT ...]``."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import spmld
from spmld.datasets import Dataset, write_dataset
from tests.datasets.text_files import write_libsvm

N_FEATURES, N_LABELS = 20, 10


def make_data(n):
    """Return samples whose labels depend on their features linearly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, N_FEATURES)).round(3)
    Y = (X @ rng.normal(size=(N_FEATURES, N_LABELS)) > rng.normal(size=(n, N_LABELS))).astype(float)
    return Dataset(X, Y)


def write_repeated(block, times, file):
    """Write a data set several times, one after the other, into one file."""
    if file.suffix == ".npz":
        write_dataset(Dataset(np.tile(block.X, (times, 1)), np.tile(block.Y, (times, 1))), file)
    elif file.suffix == ".parquet":
        import pyarrow.parquet as pq

        write_dataset(block, file)
        table = pq.read_table(file)
        with pq.ParquetWriter(file, table.schema) as writer:
            for _ in range(times):
                writer.write_table(table)
    else:
        if file.suffix == ".csv":
            write_dataset(block, file)
            header, lines = file.read_text().split("\n", 1)
            header += "\n"
        else:
            write_libsvm(block.X, block.Y, file)
            header, lines = "", file.read_text()
        with file.open("w") as out:
            out.write(header)
            for _ in range(times):
                out.write(lines)


def predict(model, file, out):
    """Run the command; return the peak memory of its process in MB and the seconds."""
    begun = time.monotonic()
    arguments = [
        sys.executable,
        "-m",
        "spmld.app.commands",
        "predict",
        str(model),
        str(file),
        "-o",
        str(out),
        "--force",
    ]
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss / 1e3, time.monotonic() - begun


def main(n_rows="1000000", *formats):
    """Print the peak memory for a tenth of the rows and for all rows."""
    block = make_data(int(n_rows) // 100)
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder, "model.skops"), Path(folder, "predicted.csv")
        small = make_data(2000)
        names = {"feature_names": small.feature_names, "label_names": small.label_names}
        spmld.save(spmld.MaskedLogistic().fit(small.X, small.Y), model, **names)
        for name in formats or ("csv", "parquet", "npz", "svm"):
            file, peaks = Path(folder, f"data.{name}"), []
            for times in (10, 100):
                write_repeated(block, times, file)
                peaks.append(predict(model, file, out)[0])
            with out.open() as lines:
                rows = sum(1 for _ in lines) - 1
            size = file.stat().st_size / 1e6
            print(
                f"{name}: {rows} rows, {size:.0f} MB: {peaks[1]:.0f} MB of memory; a tenth: {peaks[0]:.0f} MB",
                flush=True,
            )
            file.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
