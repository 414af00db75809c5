"""Fits on one and two Dask workers with one thread each: run time, CPU time, bytes sent, and a cost model.

``python -m benchmarks.distributed [samples]`` (default 400,000; needs two free cores) generates planted data in 16
chunks on the workers and fits `DaskSPMLD` with a fixed number of outer iterations. Numbers are those of one outer
iteration. Bytes are those that the workers send, counted by Dask, and the sizes of the functions that the client sends,
compared with 4 (l + d) k floats per chunk. In the cost model an iteration takes a seconds of CPU per row, divided by
the number of workers, and b seconds for each step.
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

D, L, K, N_ITER, N_CHUNKS = 100, 50, 20, 4, 16


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


def counters(client):
    """Return the CPU seconds of the workers and the bytes that they have sent."""
    values = client.run(lambda dask_worker: (time.process_time(), dask_worker.transfer_outgoing_bytes_total)).values()
    return np.sum(list(values), axis=0)


def measure(n, n_workers, counts):
    """Return wall time, CPU time, bytes of the workers and of the client, and steps of an outer iteration."""
    rows = n // N_CHUNKS
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        seeds = da.arange(N_CHUNKS, chunks=1)[:, None]
        data = seeds.map_blocks(make_block, rows, chunks=((rows,) * N_CHUNKS, (D + L,)), dtype=float).persist()
        model = DaskSPMLD(n_components=K, max_iter=N_ITER, tol=None, n_warmup_iter=0, random_state=0)
        records = []

        def note(record):
            records.append((time.perf_counter(), *counters(client), counts.bytes, counts.steps))

        model.set_params(callback=note).fit(data[:, :D], data[:, D:])
    first, last = np.array(records[0]), np.array(records[-1])
    return (last - first) / (len(records) - 1)


def main(n=400_000):
    warnings.simplefilter("ignore")
    counts = Counts()
    counts.install()
    bound = 4 * (L + D) * K * 8
    print(f"{n} samples, {D} features, {L} labels, {K} components, {N_CHUNKS} chunks", flush=True)
    results = {}
    for n_workers in (1, 2):
        wall, cpu, received, sent, steps = results[n_workers] = measure(n, n_workers, counts)
        print(
            f"{n_workers} workers: {wall:.2f} s, {cpu:.2f} s of CPU, {steps:.0f} steps, {received / 1e6:.2f} MB from "
            f"the workers and {sent / 1e6:.2f} MB from the client, {(received + sent) / N_CHUNKS / bound:.2f} times "
            "4 (l + d) k floats per chunk",
            flush=True,
        )
    one, two = results[1], results[2]
    print(f"parallel efficiency on two workers: {one[0] / (2 * two[0]):.2f}")
    a = two[1] / n
    b = max(0.0, two[0] - a * n / 2) / two[4]
    print(f"cost model: a = {1e6 * a:.1f} us, b = {1e3 * b:.1f} ms")
    print(f"100 workers and 10^9 rows: {1e9 * a / 100 + two[4] * b:.0f} s per outer iteration")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
