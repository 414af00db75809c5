"""Fits on one and two Dask workers with one thread each: run time, CPU time, bytes sent, and a cost model.

``python -m benchmarks.distributed [samples]`` needs two free cores. It fits `MaskedLogistic` in memory and on two
workers, which have half of the samples each, and prints CPU times, and the bytes of all messages between the processes
of the cluster, also relative to those of the coefficients in single precision, for each worker.

Then it generates planted data (default 400,000 samples; 0 leaves it out) in two chunks on the workers and fits `SPMLD`
with a fixed number of outer iterations. Numbers are those of one outer iteration. Bytes are those that the workers
send, counted by Dask, and the sizes of the functions that the client sends, compared with 4 (l + d) k floats per chunk.

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
from distributed.comm.tcp import TCP

from benchmarks.observed import make_data
from benchmarks.sizes import sized
from spmld import SPMLD, MaskedLogistic
from spmld.cluster import cluster_samples
from spmld.cluster.engine import DaskEngine

D, L, K, N_ITER, N_CHUNKS = 100, 50, 20, 4, 2
PROCESSES = sized(True, False)
SPARSE, DENSE = sized(((20_000, 5000, 50), (1_000_000, 50, 20)), ((200, 30, 3), (200, 5, 3)))
OPTIONS = {"threads_per_worker": 1, "processes": PROCESSES, "dashboard_address": None, "silence_logs": 50}


def make_sparse(n, d, l):
    """Return sparse features, and labels of which half are missing."""
    X, Y, mask = make_data(n, d, l, 0.5)
    return X, np.where(mask.toarray(), Y.toarray(), np.nan)


def make_dense(n, d, l):
    """Return normal features, and labels of which half are missing."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(n, d)), 0.3 * rng.normal(size=(d, l))
    Y = X @ W + rng.logistic(size=(n, l)) > 1
    return X, np.where(rng.random(Y.shape) < 0.5, Y, np.nan)


def count_bytes():
    """Count the bytes of the messages that this process sends."""
    if hasattr(TCP, "total"):
        return
    write = TCP.write
    TCP.total = 0

    async def counted_write(self, *args, **options):
        n_bytes = await write(self, *args, **options)
        TCP.total += n_bytes
        return n_bytes

    TCP.write = counted_write


def spent(client):
    """Return the CPU seconds, and the bytes of messages, of the client, the scheduler and the workers."""
    here = time.process_time(), TCP.total
    parts = [here] if not PROCESSES else [here, *client.run(lambda: (time.process_time(), TCP.total)).values()]
    return np.sum(parts, axis=0)


def beside_memory(name, X, Y):
    """Fit in memory and on two workers, and print the costs of both."""
    start = time.process_time()
    local = MaskedLogistic(n_jobs=1).fit(X, Y)
    in_memory = time.process_time() - start
    count_bytes()
    with LocalCluster(n_workers=2, **OPTIONS) as cluster, Client(cluster) as client:
        client.run(count_bytes)
        half = len(Y) // 2
        chunks = [client.scatter([A[:half], A[half:]]) for A in (X, Y)]
        collections = [
            da.concatenate([da.from_delayed(part, (half, A.shape[1]), float) for part in parts])
            for A, parts in zip((X, Y), chunks, strict=True)
        ]
        before = spent(client)
        remote = MaskedLogistic(n_jobs=1).fit(*collections)
        cpu, n_bytes = spent(client) - before
    error = np.abs(remote.coef_ - local.coef_).max() / np.abs(local.coef_).max()
    print(
        f"{name}: {cpu:.1f} s of CPU, in memory {in_memory:.1f} s, ratio {cpu / in_memory:.2f}; "
        f"{n_bytes / 2**20:.1f} MiB, {n_bytes / (2 * 4 * local.coef_.size):.0f} times the coefficients for each "
        f"worker; difference of the coefficients {error:.0e}",
        flush=True,
    )


def linear_models():
    """Compare fits of `MaskedLogistic` with those in memory. From the second one on, data of any size are large."""
    data = make_sparse(*SPARSE)
    size = "{:,} x {:,} sparse, {} labels".format(*SPARSE)
    beside_memory(f"{size}, loaded", *data)
    cluster_samples.MAX_LOADED = -1
    beside_memory(f"{size}, on the workers", *data)
    beside_memory("{:,} x {} dense, {} labels, on the workers".format(*DENSE), *make_dense(*DENSE))


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
    with LocalCluster(n_workers=n_workers, **OPTIONS) as cluster, Client(cluster) as client:
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
    linear_models()
    if n:
        outer_iterations(n)


def outer_iterations(n):
    """Measure the outer iterations of `SPMLD` on one and on two workers."""
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
