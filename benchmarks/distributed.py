"""Fits on one and two Dask workers with one thread each: run time, parallel efficiency, bytes sent, and a cost model.

``python -m benchmarks.distributed [samples]`` (default 400,000; needs two free cores) generates planted data on the
workers and fits `DaskSPMLD` with a fixed number of iterations. Bytes are those that the workers send, counted by Dask,
and the sizes of the functions that the client sends, compared with 4 (l + d) k floats per block and outer iteration.
The cost model has the time of an outer iteration for one row on one core, and the time of a step that does not depend
on the rows; both are solved from the two run times.
"""

import sys
import time
import warnings

import cloudpickle
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from spmld.dask import DaskSPMLD
from spmld.dask.engine import DaskEngine

D, L, K, N_ITER, N_BLOCKS = 100, 50, 20, 6, 16


def make_block(seeds, rows):
    """Return features and labels of some rows side by side."""
    planted, rng = np.random.default_rng(0), np.random.default_rng(int(seeds.ravel()[0]))
    W, U = planted.normal(size=(D, K)) / D**0.5, planted.normal(size=(L, K))
    X = rng.normal(size=(rows, D))
    scores = X @ W @ U.T + rng.logistic(size=(rows, L))
    return np.hstack([X, np.where(rng.random(scores.shape) < 0.5, scores > 1, np.nan)])


class Counts:
    """Steps of the engine, and bytes of the functions that it sends."""

    def __init__(self):
        self.steps, self.bytes = 0, 0

    def install(self):
        """Count the functions that all engines send."""
        send = DaskEngine._send

        def counted(engine, function):
            packed = send(engine, function)
            self.steps += 1
            self.bytes += len(cloudpickle.dumps(function))
            return packed

        DaskEngine._send = counted


def transferred(client):
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def measure(n, n_workers, counts):
    """Return the seconds, the bytes that workers and the client send, and the steps of an outer iteration."""
    rows = n // N_BLOCKS
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        seeds = da.arange(N_BLOCKS, chunks=1)[:, None]
        data = seeds.map_blocks(make_block, rows, chunks=((rows,) * N_BLOCKS, (D + L,)), dtype=float).persist()
        X, Y = data[:, :D], data[:, D:]
        model = DaskSPMLD(n_components=K, max_iter=N_ITER, tol=None, n_warmup_iter=0, random_state=0)
        records = []

        def note(record):
            records.append((time.perf_counter(), transferred(client), counts.bytes, counts.steps))

        model.set_params(callback=note).fit(X, Y)
    first, last = np.array(records[0]), np.array(records[-1])
    return (last - first) / (len(records) - 1)


def main(n=400_000):
    warnings.simplefilter("ignore")
    counts = Counts()
    counts.install()
    bound = 4 * (L + D) * K * 8
    results = {}
    for n_workers in (1, 2):
        seconds, between, sent, steps = results[n_workers] = measure(n, n_workers, counts)
        print(
            f"{n_workers} workers, {n} samples, {D} features, {L} labels, {K} components, {N_BLOCKS} blocks: "
            f"{seconds:.2f} s, {steps:.0f} steps, {between / 1e6:.2f} MB from workers and {sent / 1e6:.2f} MB from the "
            f"client per outer iteration; together {(between + sent) / N_BLOCKS / bound:.2f} times 4 (l + d) k floats "
            "per block",
            flush=True,
        )
    one, two = results[1], results[2]
    print(f"parallel efficiency on two workers: {one[0] / (2 * two[0]):.2f}")
    # seconds = rows a / workers + steps b
    a, b = np.linalg.solve([[n, one[3]], [n / 2, two[3]]], [one[0], two[0]])
    print(f"cost model: {1e6 * a:.2f} us per row and core, {1e3 * b:.1f} ms per step and outer iteration")
    print(f"100 workers, 10^9 rows: {1e9 * a / 100 + two[3] * b:.0f} s per outer iteration")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
