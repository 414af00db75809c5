"""Fits on one and two Dask workers with one thread each: run time, CPU time, bytes sent, and a cost model.

``python -m benchmarks.distributed [samples]`` (default 400,000; needs two free cores) generates planted data in two
chunks on the workers and fits `SPMLD` with a fixed number of outer iterations. Numbers are those of one outer
iteration. Bytes are those that the workers send, counted by Dask, and the sizes of the functions that the client sends,
compared with 4 (l + d) k floats per chunk.

A fit to 1,600 samples measures b, the time of a step without its computations. In the cost model, an iteration takes a
seconds of CPU per row, divided by the number of workers, and b seconds for each step. The CPU time of an iteration is
that of the busiest worker plus that of the client, which waits for the workers and they for it. Other processes of the
machine change it less than the run time. The parallel efficiency is computed from both.
"""

import sys
import time
import warnings
from dataclasses import dataclass

import cloudpickle
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.sizes import sized
from spmld import SPMLD
from spmld.cluster.engine import DaskEngine

D, L, K, N_ITER, N_CHUNKS = 100, 50, 20, 4, 2
PROCESSES = sized(True, False)


def make_block(seeds, rows):
    """Return features and labels of some rows side by side."""
    planted, rng = np.random.default_rng(0), np.random.default_rng(int(seeds.ravel()[0]))
    W, U = planted.normal(size=(D, K)) / D**0.5, planted.normal(size=(L, K))
    X = rng.normal(size=(rows, D))
    scores = X @ W @ U.T + rng.logistic(size=(rows, L))
    return np.hstack([X, np.where(rng.random(scores.shape) < 0.5, scores > 1, np.nan)])


@dataclass
class Cost:
    """Costs of an outer iteration."""

    wall: float
    client_cpu: float
    busiest_cpu: float
    """CPU seconds of the busiest worker."""
    worker_cpu: float
    """CPU seconds of all workers."""
    received: float
    sent: float
    steps: float

    @property
    def cpu(self):
        """CPU seconds of computations that are not made at the same time."""
        return self.client_cpu + self.busiest_cpu


class Counts:
    """Steps of the engine, and bytes of the functions that it sends."""

    def __init__(self):
        self.steps, self.bytes = 0, 0

    def install(self):
        """Count the functions that all engines send."""
        send = DaskEngine._send

        def counted_send(engine, function):
            packed = send(engine, function)
            self.steps += 1
            self.bytes += len(cloudpickle.dumps(function))
            return packed

        DaskEngine._send = counted_send


def counters(client):
    """Return the CPU seconds of each worker and the bytes that all workers have sent."""
    values = client.run(lambda dask_worker: (time.process_time(), dask_worker.transfer_outgoing_bytes_total))
    cpu, sent = zip(*(values[worker] for worker in sorted(values)), strict=True)
    return *cpu, sum(sent)


def measure(n, n_workers, counts):
    """Return the cost of an outer iteration."""
    rows = n // N_CHUNKS
    options = {"n_workers": n_workers, "threads_per_worker": 1, "processes": PROCESSES}
    options |= {"dashboard_address": None, "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        seeds = da.arange(N_CHUNKS, chunks=1)[:, None]
        data = seeds.map_blocks(make_block, rows, chunks=((rows,) * N_CHUNKS, (D + L,)), dtype=float).persist()
        model = SPMLD(n_components=K, max_iter=N_ITER, tol=None, n_warmup_iter=0, random_state=0)
        records = []

        def note(record):
            counted = time.perf_counter(), time.process_time(), counts.bytes, counts.steps
            records.append((*counted, *counters(client)))

        model.set_params(callback=note).fit(data[:, :D], data[:, D:])
    wall, client_cpu, sent, steps, *cpu, received = (np.array(records[-1]) - np.array(records[0])) / (len(records) - 1)
    return Cost(wall, client_cpu, max(cpu), sum(cpu), received, sent, steps)


def main(n=sized(400_000, 400)):
    warnings.simplefilter("ignore")
    counts = Counts()
    counts.install()
    bound = 4 * (L + D) * K * 8
    print(f"{n} samples, {D} features, {L} labels, {K} components, {N_CHUNKS} chunks", flush=True)
    costs = {}
    for n_workers in (1, 2):
        cost = costs[n_workers] = measure(n, n_workers, counts)
        total = cost.received + cost.sent
        print(
            f"{n_workers} workers: {cost.wall:.2f} s, {cost.worker_cpu:.2f} s of CPU of the workers and "
            f"{cost.client_cpu:.2f} s of the client, {cost.steps:.0f} steps, {cost.received / 1e6:.2f} MB from the "
            f"workers and {cost.sent / 1e6:.2f} MB from the client, {total / N_CHUNKS / bound:.2f} times 4 (l + d) k "
            "floats per chunk",
            flush=True,
        )
    one, two = costs[1], costs[2]
    few = measure(sized(1600, 200), 2, counts)
    b, b_wall = few.cpu / few.steps, few.wall / few.steps
    a = (two.worker_cpu - few.worker_cpu) / n
    print(f"parallel efficiency on two workers: {one.wall / (2 * two.wall):.2f} from run times, ", end="")
    print(f"{one.cpu / (2 * two.cpu):.2f} from CPU times")
    print(f"cost model: a = {1e6 * a:.1f} us, b = {1e3 * b:.1f} ms of CPU, {1e3 * b_wall:.1f} ms of run time")
    print(f"100 workers and 10^9 rows: {1e9 * a / 100:.0f} + {few.steps * b_wall:.1f} s per outer iteration")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
