"""Fits on a GPU: time, share of the time in GPU kernels, memory bandwidth of the W step, and agreement with the CPU.

``python -m benchmarks.accelerator [n_samples]`` requires torch with CUDA. The data are generated on the device: 1,024
features, 200 labels, 30 % of the entries observed, float32. SelfPacedEnsemble is fitted to 150,000 of the samples, and
sparse features of NumPy with ``device="cuda"``.
"""

import sys
import time

import numpy as np

from benchmarks.observed import make_data as make_sparse_data
from benchmarks.sizes import sized
from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble
from spmld.core.problem import set_W
from spmld.core.steps import UpdateW
from spmld.metrics import ranking_loss

D, L, K, OBSERVED = 1024, 200, 32, 0.3
MODELS = (SPMLD(n_components=K, random_state=0), MaskedLogistic())


def make_data(torch, n):
    generator = torch.Generator("cuda").manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, device="cuda", generator=generator)

    X = normal(n, D)
    scores = (X @ normal(D, K) / D**0.5) @ normal(K, L) / K**0.5 - 1
    Y = (scores + 0.3 * normal(n, L) > 0).float()
    truth = Y[:1000].cpu().numpy()
    Y[torch.rand(n, L, device="cuda", generator=generator) > OBSERVED] = torch.nan
    return X, Y, truth


def timed(torch, function):
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return result, time.perf_counter() - start


def copy_bandwidth(torch):
    """Return the bytes read and written per second by a copy."""
    A = torch.empty(2**30, device="cuda")
    B = torch.empty_like(A)
    B.copy_(A)
    _, seconds = timed(torch, lambda: [B.copy_(A) for _ in range(10)])
    return 10 * 2 * A.nbytes / seconds


def in_range(torch, name, function):
    """Return the function with its calls in a named range of the profiler."""

    def call(*args):
        with torch.profiler.record_function(f"step {name}"):
            result = function(*args)
            torch.cuda.synchronize()
        return result

    call.models_fit = getattr(function, "models_fit", False)
    return call


def profile(torch, X, Y):
    """Print the time of each step of a fit, the share of it in GPU kernels, and the bandwidth of the W step."""

    class Profiled(SPMLD):
        def _steps(self):
            return tuple(in_range(torch, type(step).__name__[-1], step) for step in super()._steps())

        def _pacing(self):
            return in_range(torch, "P", super()._pacing())

        def _set_result(self, problem, objective, result, mean, factor):
            super()._set_result(problem, objective, result, mean, factor)
            start, seconds = set_W(problem, result.state, 0 * result.state.W), []
            for count in (2, 2, 7):
                step = UpdateW(tol=0.0, max_iter=count)
                seconds.append(timed(torch, lambda step=step: step(problem, objective, start))[1])
            rate = 5 * 2 * X.nbytes / (seconds[-1] - seconds[-2])
            print(f"  W reads X at {rate / 1e12:.2f} TB/s", flush=True)

    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        Profiled(n_components=K, random_state=0, max_iter=6, tol=None).fit(X, Y)
    for event in profiler.key_averages():
        if event.key.startswith("step ") and event.cpu_time_total:
            share, seconds = event.device_time_total / event.cpu_time_total, event.cpu_time_total / 1e6
            print(f"  {event.key}: {seconds / event.count:.4f} s a call, {share:.0%} in GPU kernels", flush=True)


def compare_devices(torch, X, Y):
    """Print how far scores are from those of float64 on the CPU."""
    for model in (SPMLD(n_components=K, random_state=0, local_correlation=0.0), MaskedLogistic(tol=1e-5)):
        on_gpu = model.fit(X, Y).decision_function(X).cpu().numpy()
        on_cpu = model.fit(X.double().cpu(), Y.double().cpu()).decision_function(X.double().cpu()).numpy()
        difference = np.abs(on_gpu - on_cpu).max() / np.abs(on_cpu).max()
        print(f"{model}: differs from float64 on the CPU by {difference:.1e} of the largest score", flush=True)


def time_sparse(torch, n=sized(100_000, 1000)):
    """Print the times of sparse features on the GPU and on the CPU."""
    X, Y, mask = make_sparse_data(n, 50_000, L, OBSERVED)
    X = X.astype(np.float32)
    print(f"sparse features, {n:,} x 50,000, {X.nnz / n:.0f} in a row, {L} labels, {OBSERVED:.0%} observed")
    for model in (SPMLD(n_components=K, random_state=0, local_correlation=0.0), MaskedLogistic()):
        results = {}
        for device in ("cuda", None):
            model.set_params(device=device)
            _, seconds = timed(torch, lambda model=model: model.fit(X, Y, mask=mask))
            results[device] = seconds, model.decision_function(X[:2000])
        difference = np.abs(results["cuda"][1] - results[None][1]).max() / np.abs(results[None][1]).max()
        times = f"{results['cuda'][0]:.2f} s on the GPU, {results[None][0]:.2f} s on the CPU"
        print(f"  {type(model).__name__}: {times}, scores differ by {difference:.1e}", flush=True)


def time_flagship(torch, X, Y):
    model = SelfPacedEnsemble(random_state=0)
    for n in (5000, len(X)):
        _, on_gpu = timed(torch, lambda n=n: model.fit(X[:n], Y[:n]))
        print(f"SelfPacedEnsemble, {n:,} samples: {on_gpu:.1f} s on the GPU", flush=True)
    X, Y = X.cpu().numpy(), Y.cpu().numpy()
    _, on_cpu = timed(torch, lambda: model.fit(X, Y))
    print(f"  {on_cpu:.1f} s on the CPU, {on_cpu / on_gpu:.1f} times as long", flush=True)


def main(*arguments):
    try:
        import torch
    except ImportError:
        return print("skipped: torch is not installed")
    if not torch.cuda.is_available():
        return print("skipped: no CUDA device")
    n = int(arguments[0]) if arguments else sized(1_000_000, 10_000)
    print(f"{torch.cuda.get_device_name()}: {n:,} x {D}, {L} labels, {OBSERVED:.0%} observed")
    X, Y, truth = make_data(torch, n)
    for model in MODELS:
        model.fit(X[:5000], Y[:5000])  # loads the kernels
    print(f"a copy reads and writes {copy_bandwidth(torch) / 1e12:.2f} TB/s", flush=True)
    for tf32 in (False, True):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        print("matrix products in TF32" if tf32 else "matrix products in float32")
        for model in MODELS:
            _, seconds = timed(torch, lambda model=model: model.fit(X, Y))
            loss = ranking_loss(truth, model.decision_function(X[:1000]).cpu().numpy())
            print(f"{model}: {seconds:.2f} s, {model.n_iter_} iterations, ranking loss {loss:.4f}", flush=True)
        profile(torch, X, Y)
    torch.backends.cuda.matmul.allow_tf32 = False
    compare_devices(torch, X[:20_000], Y[:20_000])
    time_sparse(torch)
    time_flagship(torch, X[:150_000], Y[:150_000])


if __name__ == "__main__":
    main(*sys.argv[1:])
