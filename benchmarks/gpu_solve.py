"""Whole solves on one CUDA device: every point of two large clouds, a vocabulary, a thousand restarts; and dense or streamed.

    python benchmarks/gpu_solve.py [--data DIR] [--only large words restarts steps] [--out results]

Writes gpu_solve.csv and gpu_solve.md. Each time is the median of three calls after a first one, which compiles.
"""

from __future__ import annotations

import argparse
import csv
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from provenance import header, write_page

import invarot
from invarot.transport.cost import BlockedCost
from invarot.transport.gpu.cost import KernelCost
from invarot.transport.gpu.kept import KeptCost

Row = dict[str, Any]
GIB = 2**30
COMMAND = "python benchmarks/gpu_solve.py --data DIR"


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[Any, float, float]:
    """What the last call returned, the median of the seconds after the first, and the seconds of the first."""
    seconds, found = [], None
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        found = call()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return found, statistics.median(seconds[1:]), seconds[0]


def on_device(points: np.ndarray[Any, Any]) -> Any:
    return torch.from_numpy(np.ascontiguousarray(points, dtype=np.float32)).cuda()


def clouds(n: int, d: int, rng: np.random.Generator, noise: float = 0.3) -> tuple[Any, Any, Any, Any]:
    """Unit vectors around 40 centres; their turned, shuffled, noisy copy; the turn; which row of y is whose."""
    spread = np.arange(1, d + 1) ** -0.3
    centres = rng.standard_normal((40, d)) * spread
    x = centres[rng.integers(0, 40, n)] + 0.5 * rng.gamma(2.0, size=(n, d)) * spread
    x -= x.mean(axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    order = rng.permutation(n)
    y = x[order] @ turn + noise * rng.standard_normal((n, d)) / d**0.5
    return x, y, turn, np.argsort(order)


def large(n: int = 200_000, d: int = 300) -> Iterator[Row]:
    """p = inf, every point in the coupling, from a map that is 0.3 (relative) off."""
    rng = np.random.default_rng(0)
    x, y, turn, right = clouds(n, d, rng)
    u, _, vt = np.linalg.svd(turn + 0.3 * rng.standard_normal((d, d)) / d**0.5)
    start = u @ vt  # not the Q of a QR, which mirrors a quarter of the columns
    x, y, start = on_device(x), on_device(y), on_device(start)
    torch.cuda.reset_peak_memory_stats()
    steps: list[Any] = []
    ends: list[float] = []

    def watch(step: Any) -> None:
        torch.cuda.synchronize()
        steps.append(step)
        ends.append(time.perf_counter())

    def solve() -> Any:
        steps.clear()
        ends.clear()
        ends.append(time.perf_counter())
        found = invarot.align(x, y, start=start, on_step=watch)
        torch.cuda.synchronize()
        ends.append(time.perf_counter())
        return found

    found, seconds, first = timed(solve, repeats=1)
    peak = torch.cuda.max_memory_allocated() / GIB
    hits = float((found.matches().cpu().numpy() == right).mean())
    full = [step for step in steps if step.stage == "solve"]
    spent = np.diff(ends)
    whole = sum(seconds for seconds, step in zip(spent, steps, strict=False) if step.stage == "solve")
    yield {
        "what": f"solve, n = m = {n}, d = {d}",
        "seconds": seconds,
        "first": first,
        "GiB": peak,
        "note": f"{hits:.2%} of the matches, {found.verdict.word}; {len(full)} steps with all points, "
        f"{sum(s.inner_iterations for s in full)} sweeps, {full[-1].mode}; {whole:.1f} s in them, "
        f"{spent[-1]:.1f} s for the verdict",
    }


def words(data: Path) -> Iterator[Row]:
    """20k words, 100-d, start to refined map, P@1 with CSLS beside the CPU's."""
    from invarot.translation import learn
    from invarot.words import read_vectors

    for language in ("es", "fr", "de"):
        en, other = (read_vectors(data / "europarl100" / f"{name}.npz").first(20_000) for name in ("en", language))
        gold = data / "muse" / f"en-{language}.5000-6500.txt"
        model, seconds, first = timed(lambda en=en, other=other: learn(en, other, device="cuda"))
        begin = time.perf_counter()
        host = learn(en, other, device="cpu")
        cpu = time.perf_counter() - begin
        scores = [one.evaluate(gold)["precision@1"] for one in (model, host)]
        yield {
            "what": f"20k words, 100-d, en-{language}",
            "seconds": seconds,
            "first": first,
            "note": f"P@1 {100 * scores[0]:.2f}, on the CPU {100 * scores[1]:.2f} in {cpu:.0f} s; {model.verdict.word}",
        }


def restarts(count: int = 1000) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(200, 3))
    x -= x.mean(axis=0)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    source, target = on_device(x), on_device(x[::-1] @ turn)
    steps: list[Any] = []

    def solve() -> Any:
        steps.clear()
        return invarot.align(source, target, start="random", n_starts=count, on_step=steps.append)

    found, seconds, first = timed(solve)
    off = float(np.abs(found.map.cpu().numpy() - turn).max())
    yield {
        "what": f"{count} random restarts, n = 200, d = 3",
        "seconds": seconds,
        "first": first,
        "note": f"map within {off:.0e}; {len(steps)} steps, at most "
        f"{sum(s.inner_iterations for s in steps)} sweeps, {steps[0].mode}",
    }


def steps() -> Iterator[Row]:
    """One plan step, its first sweep and each further one, kernel kept or streamed: what the choice rests on."""
    generator = torch.Generator(device="cuda").manual_seed(0)
    for d in (50, 100, 300):
        for n in (2000, 5000, 10_000, 20_000, 40_000):
            z, y = (torch.randn(n, d, generator=generator, device="cuda") for _ in range(2))
            z, y = (p / torch.linalg.vector_norm(p, dim=1, keepdim=True) for p in (z, y))
            weights = torch.full((n,), 1 / n, device="cuda")
            row: Row = {"what": f"plan step, n = m = {n}, d = {d}"}
            kinds = {"dense": partial(BlockedCost, keep=True), "streamed": KernelCost, "kept": KeptCost}
            for name, make in kinds.items():

                def go(sweeps: int, make: Any = make, z: Any = z, y: Any = y, weights: Any = weights) -> None:
                    cost = make(z[None], y, 40.0, weights, weights)
                    v = torch.zeros((1, y.shape[0]), device="cuda")
                    for _ in range(sweeps):
                        u, v = cost.sweep(v)
                    cost.images(u, v)

                _, one, _ = timed(lambda go=go: go(1), 5)
                _, many, _ = timed(lambda go=go: go(11), 5)
                row[name] = f"{1e3 * one:.2f} + {1e2 * (many - one):.2f} ms a sweep"
                row[f"{name}_ms"] = round(1e3 * one, 3)
                row[f"{name}_sweep_ms"] = round(1e2 * (many - one), 4)
                torch.cuda.empty_cache()
            yield row


def write(rows: list[Row], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(key for row in rows for key in row))
    with open(out / "gpu_solve.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    card = torch.cuda.get_device_name()
    lines = [
        "# Whole solves on one GPU",
        "",
        *header(COMMAND),
        f"{card}, torch {torch.__version__}, Python {platform.python_version()}. Seconds: median after a first call, "
        "which compiles kernels.",
        "",
        "| what | seconds | first call | peak GiB | |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        if "seconds" in row:
            peak = f"{row['GiB']:.1f}" if "GiB" in row else ""
            lines.append(f"| {row['what']} | {row['seconds']:.2f} | {row['first']:.2f} | {peak} | {row['note']} |")
    lines += ["", "Rows: [gpu_solve.csv](gpu_solve.csv)."]
    plans = [row for row in rows if "dense" in row]
    if plans:
        lines += [
            "",
            "## Dense or streamed",
            "",
            "One plan step with one sweep and its images, and each further sweep.",
            "",
            "| | dense, float32 | streamed | streamed, then kept in float16 |",
            "|---|---|---|---|",
        ]
        lines += [f"| {row['what']} | {row['dense']} | {row['streamed']} | {row['kept']} |" for row in plans]
    write_page(out / "gpu_solve.md", lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with europarl100/ and muse/")
    parser.add_argument("--only", nargs="+", default=["restarts", "words", "large", "steps"])
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    rows: list[Row] = []
    jobs = {"large": large, "restarts": restarts, "steps": steps, "words": partial(words, args.data)}
    for name in args.only:
        if name == "words" and args.data is None:
            print("words: skipped, no --data")
            continue
        for row in jobs[name]():
            rows.append(row)
            print(*row.values(), sep=" · ", flush=True)
            write(rows, args.out)


if __name__ == "__main__":
    main()
