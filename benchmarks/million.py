"""1,000,000 × 1,000,000 points in 100 dimensions in one coupling on one CUDA device: seconds by part, memory, matches.

    python benchmarks/million.py [--n 1000000] [--d 100] [--starts auto near mirrored] [--out results/million.json]

*near*: the polar factor of the true map with noise, 0.21 off in the Frobenius norm over √d. *mirrored*: the Q of its QR, which
mirrors about a quarter of the columns and is 1.0 off; earlier tables called it 0.3 off. A first small solve compiles the kernels.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

import invarot
from invarot.experiments.provenance import describe_commit


def make(n: int, d: int, noise: float, seed: int = 0) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """Unit vectors around 40 centres, their turned, shuffled, noisy copy; the turn; which row of y is whose; starts."""
    generator = torch.Generator("cuda").manual_seed(seed)
    like: dict[str, Any] = {"generator": generator, "device": "cuda"}
    spread = torch.arange(1, d + 1, device="cuda") ** -0.3
    centres = torch.randn((40, d), **like) * spread
    x = sum((1 - torch.rand((n, d), **like)).log_() for _ in range(2))  # minus a gamma variable of shape 2; log(0) avoided
    x.mul_(-0.5 * spread).add_(centres[torch.randint(40, (n,), **like)])
    x -= x.mean(dim=0)
    x /= torch.linalg.norm(x, dim=1, keepdim=True)
    turn = torch.linalg.qr(torch.randn((d, d), **like))[0]
    order = torch.randperm(n, **like)
    y = x[order] @ turn
    y += noise / d**0.5 * torch.randn((n, d), **like)
    rough = (turn + 0.3 * torch.randn((d, d), **like) / d**0.5).cpu().numpy()
    u, _, vt = np.linalg.svd(rough)
    starts = {"auto": "auto", "near": u @ vt, "mirrored": np.linalg.qr(rough)[0]}
    return x, y, turn, torch.argsort(order), starts


def solve(x: Any, y: Any, turn: Any, right: Any, start: Any) -> dict[str, Any]:
    torch.cuda.reset_peak_memory_stats()
    marks: list[tuple[str, float]] = []
    sweeps: Counter[str] = Counter()
    rows = []

    def watch(step: Any) -> None:
        torch.cuda.synchronize()
        marks.append((step.stage, time.perf_counter()))
        sweeps[step.stage] += step.inner_iterations
        off = float(torch.linalg.norm(torch.as_tensor(step.map, device="cuda") - turn)) / turn.shape[0] ** 0.5
        rows.append([step.stage, round(step.epsilon, 5), step.inner_iterations, round(off, 4), step.mode])

    given = start if isinstance(start, str) else torch.from_numpy(start.astype(np.float32)).cuda()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    found = invarot.align(x, y, start=given, on_step=watch)
    torch.cuda.synchronize()
    ended = time.perf_counter()
    seconds: Counter[str] = Counter(
        {"before the first step": marks[0][1] - begun, "after the last": ended - marks[-1][1]}
    )
    for (_, before), (stage, now) in pairwise(marks):
        seconds[stage] += now - before
    matches = found.matches("plan")
    torch.cuda.synchronize()
    return {
        "seconds": round(ended - begun, 2), "matches_seconds": round(time.perf_counter() - ended, 2),
        "parts": {name: round(value, 2) for name, value in seconds.items()}, "sweeps": dict(sweeps),
        "peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2),
        "right": float((matches == right).double().mean()), "verdict": found.verdict.word, "objective": found.objective,
        "off": float(torch.linalg.norm(found.map - turn)) / turn.shape[0] ** 0.5, "steps": rows,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=100)
    parser.add_argument("--noise", type=float, default=0.3)
    parser.add_argument("--starts", nargs="+", default=["auto", "near", "mirrored"])
    parser.add_argument("--profile", action="store_true", help="one more solve from auto under cProfile, 40 lines")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    small = make(20_000, args.d, args.noise)
    solve(*small[:4], "auto")
    x, y, turn, right, starts = make(args.n, args.d, args.noise)
    found: dict[str, Any] = {
        "commit": describe_commit(), "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        "n": args.n, "d": args.d, "noise": args.noise,
    }  # fmt: skip
    for name in args.starts:
        found[name] = solve(x, y, turn, right, starts[name])
        print(name, json.dumps(found[name]), flush=True)
        if args.out is not None:
            args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if args.profile:
        import cProfile
        import pstats

        profile = cProfile.Profile()
        profile.runcall(invarot.align, x, y)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(40)


if __name__ == "__main__":
    main()
