"""Fits on a GPU: time, share of the time in GPU kernels, memory bandwidth of the W step, and agreement with the CPU.

``python -m benchmarks.accelerator [n_samples] [--flagship]`` requires torch with CUDA. The data are generated on the
device: 1,024 features, 200 labels, 30 % of the entries observed, float32.
"""

import sys
import time

import numpy as np

from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble
from spmld.metrics import ranking_loss

D, L, K, OBSERVED = 1024, 200, 32, 0.3


def make_data(torch, n):
    generator = torch.Generator("cuda").manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, device="cuda", generator=generator)

    X = normal(n, D)
    scores = (X @ normal(D, K) / D**0.5) @ normal(K, L) / K**0.5 - 1
    Y = (scores + 0.3 * normal(n, L) > 0).float()
    truth = Y[:1000].clone()
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


class Profiled:
    """A block update inside a named range of the profiler."""

    def __init__(self, torch, step):
        self.torch, self.step, self.models_fit = torch, step, step.models_fit

    def __call__(self, *args):
        with self.torch.profiler.record_function(f"step {type(self.step).__name__[-1]}"):
            result = self.step(*args)
            self.torch.cuda.synchronize()
        return result


def profile(torch, X, Y):
    """Print the time of each step of a fit and the share of it that GPU kernels take."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]

    class ProfiledSPMLD(SPMLD):
        def _steps(self):
            return tuple(Profiled(torch, step) for step in super()._steps())

        def _pacing(self, problem):
            return Profiled.pacing(torch, super()._pacing(problem))

    with torch.profiler.profile(activities=activities) as profiler:
        ProfiledSPMLD(n_components=K, random_state=0, max_iter=6, tol=None).fit(X, Y)
    for event in profiler.key_averages():
        if event.key.startswith("step ") and event.cpu_time_total:
            share = event.device_time_total / event.cpu_time_total
            print(
                f"  {event.key}: {event.cpu_time_total / 1e6:.3f} s, {share:.0%} in GPU kernels ({event.count} calls)"
            )


def _pacing(torch, update):
    def profiled(*args):
        with torch.profiler.record_function("step P"):
            result = update(*args)
            torch.cuda.synchronize()
        return result

    return profiled


Profiled.pacing = staticmethod(_pacing)


def main(*arguments):
    try:
        import torch
    except ImportError:
        return print("skipped: torch is not installed")
    if not torch.cuda.is_available():
        return print("skipped: no CUDA device")
    n = int(next((a for a in arguments if a.isdigit()), 1_000_000))
    print(torch.cuda.get_device_name(), f"{n:,} x {D}, {L} labels, {OBSERVED:.0%} observed")
    X, Y, truth = make_data(torch, n)
    SPMLD(n_components=K, random_state=0).fit(X[:5000], Y[:5000])  # compiles and loads kernels
    print(f"copy bandwidth {copy_bandwidth(torch) / 1e12:.2f} TB/s", flush=True)
    for model in (SPMLD(n_components=K, random_state=0), MaskedLogistic()):
        fitted, seconds = timed(torch, lambda model=model: model.fit(X, Y))
        loss = ranking_loss(truth.cpu().numpy(), fitted.decision_function(X[:1000]).cpu().numpy())
        print(
            f"{type(model).__name__}: {seconds:.2f} s, {fitted.n_iter_} iterations, ranking loss {loss:.4f}", flush=True
        )
        if isinstance(fitted, SPMLD):
            for stage in ("warm-up", "main"):
                print(f"  {stage}: {sum(r['seconds'] for r in fitted.history_ if r['stage'] == stage):.2f} s")
    profile(torch, X, Y)
    small = slice(0, 20_000)
    for model in (SPMLD(n_components=K, random_state=0, local_correlation=0.0), MaskedLogistic()):
        on_gpu = model.fit(X[small], Y[small]).decision_function(X[:1000]).cpu().numpy()
        on_cpu = model.fit(X[small].double().cpu(), Y[small].double().cpu()).decision_function(X[:1000].double().cpu())
        difference = np.abs(on_gpu - on_cpu.numpy()).max() / np.abs(on_cpu.numpy()).max()
        print(
            f"{type(model).__name__}: scores differ from float64 on the CPU by {difference:.1e} of their maximum",
            flush=True,
        )
    if "--flagship" in arguments:
        rows = slice(0, min(n, 100_000))
        model = SelfPacedEnsemble(random_state=0)
        _, on_gpu = timed(torch, lambda: model.fit(X[rows], Y[rows]))
        print(f"SelfPacedEnsemble, {rows.stop:,} samples: {on_gpu:.1f} s on the GPU", flush=True)
        X_cpu, Y_cpu = X[rows].cpu().numpy(), Y[rows].cpu().numpy()
        _, on_cpu = timed(torch, lambda: model.fit(X_cpu, Y_cpu))
        print(f"  {on_cpu:.1f} s on the CPU, {on_cpu / on_gpu:.1f} times as long", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
