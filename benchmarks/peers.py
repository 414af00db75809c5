"""Fits one method to data with many labels in a process of its own, see `benchmarks.many_labels`.

``python benchmarks/peers.py METHOD FOLDER`` requires the method and not this library. It reads X, Y, X_test and, if
there is one, the mask from FOLDER, and writes the five best labels of each test sample, times, memory and model size.
"""

import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

THREADS = 2
K = 5


def masked_logistic(C, **params):
    def run(X, Y, X_test, mask, folder):
        from spmld import MaskedLogistic, save

        warnings.simplefilter("ignore")  # about labels without positives
        model = MaskedLogistic(C=C, n_jobs=THREADS, **params)
        fit = timed(lambda: model.fit(X, Y, mask=mask))
        save(model, folder / "model.skops")
        return fit, timed(lambda: model.top_labels(X_test, K).labels)

    return run


def napkinxc(name):
    def run(X, Y, X_test, mask, folder):
        from napkinxc import models

        model = getattr(models, name)(str(folder), threads=THREADS, seed=0)
        labels = [row.tolist() for row in np.split(Y.indices, Y.indptr[1:-1])]
        fit = timed(lambda: model.fit(sp.csr_matrix(X), labels))
        model.load()
        return fit, timed(lambda: model.predict(sp.csr_matrix(X_test), top_k=K))

    return run


def omikuji(X, Y, X_test, mask, folder):
    import omikuji

    path = folder.parent / "train.txt"
    with path.open("w") as file:
        print(*X.shape, Y.shape[1], file=file)
        for i in range(X.shape[0]):
            features = " ".join(f"{j}:{v:.6g}" for j, v in pairs(X, i))
            print(",".join(map(str, Y.indices[Y.indptr[i] : Y.indptr[i + 1]])), features, file=file)
    fit = timed(lambda: omikuji.Model.train_on_data(str(path), n_threads=THREADS))
    fit[0].save(str(folder))
    tests = [pairs(X_test, i) for i in range(X_test.shape[0])]
    return fit, timed(lambda: [[j for j, _ in fit[0].predict(test, top_k=K)] for test in tests])


def pecos(X, Y, X_test, mask, folder):
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel

    X, Y, X_test = (sp.csr_matrix(A, dtype=np.float32) for A in (X, Y, X_test))

    def train():
        clusters = Indexer.gen(LabelEmbeddingFactory.create(Y, X, method="pifa"), threads=THREADS)
        return XLinearModel.train(X, Y, C=clusters, threads=THREADS)

    fit = timed(train)
    fit[0].save(str(folder))
    scores, seconds, cpu = timed(lambda: fit[0].predict(X_test, only_topk=K, threads=THREADS))
    rows = [slice(*scores.indptr[i : i + 2]) for i in range(len(scores.indptr) - 1)]
    return fit, ([scores.indices[s][np.argsort(-scores.data[s])].tolist() for s in rows], seconds, cpu)


METHODS = {
    "MaskedLogistic": masked_logistic(1.0),
    "MaskedLogistic, C=30, tol=0.1": masked_logistic(30.0, tol=0.1),
    "napkinXC PLT": napkinxc("PLT"),
    "napkinXC BR": napkinxc("BR"),
    "omikuji": omikuji,
    "PECOS XR-Linear": pecos,
}


def timed(function):
    """Return the result of a function, its run time, and the CPU time of its threads, which needs no quiet machine."""
    start, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - start, time.process_time() - cpu


def peak_memory():
    """Return the peak memory of this process in GiB. That of getrusage includes the memory of the parent process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 2**20


def pairs(X, i):
    s = slice(X.indptr[i], X.indptr[i + 1])
    return list(zip(X.indices[s].tolist(), X.data[s].tolist(), strict=True))


def main(method, folder):
    X, Y, X_test = (sp.load_npz(folder / f"{name}.npz") for name in ("X", "Y", "X_test"))
    mask = sp.load_npz(folder / "mask.npz") if (folder / "mask.npz").exists() else None
    with tempfile.TemporaryDirectory() as scratch:
        stored = Path(scratch) / "model"
        stored.mkdir()
        (_, seconds, cpu), (top, test_seconds, _) = METHODS[method](X, Y, X_test, mask, stored)
        size = sum(file.stat().st_size for file in stored.rglob("*") if file.is_file())
    np.save(folder / "top.npy", np.array([(list(row) + [-1] * K)[:K] for row in top]))
    result = {
        "seconds": seconds,
        "cpu": cpu,
        "MiB": size / 2**20,
        "GiB": peak_memory(),
        "ms": 1000 * test_seconds / X_test.shape[0],
    }
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
    main(sys.argv[1], Path(sys.argv[2]))
