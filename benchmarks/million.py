"""1,000,000 × 1,000,000 points in 100 dimensions in one coupling on one device: seconds by part, memory, matches.

    python benchmarks/million.py [--n 1000000] [--d 100] [--starts auto near mirrored] [--out results/million.json]

*near*: the polar factor of the true map with noise, 0.21 off in the Frobenius norm over √d. *mirrored*: the Q of its QR, which
mirrors about a quarter of the columns and is 1.0 off; earlier tables called it 0.3 off. A first small solve compiles the kernels.
Each solve is printed and written as soon as it is done. ``--n`` takes several sizes; ``--sums`` also measures the sums of the plan.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import invarot
from invarot.experiments.provenance import describe_commit

# functions whose time is shown: inclusive seconds of each
PARTS = (
    ("alignment.align", "pose"), ("alignment.align", "run_search"), ("alignment.search.search", "run_heats"),
    ("alignment.search.search", "solve_in_stages"), ("alignment.search.search", "explains_unseen"),
    ("starts.portfolio", "signature"), ("starts.portfolio", "axes"), ("alignment.align", "improve"),
    ("alignment.align", "judge"), ("alignment.evidence", "_make_null"),
    ("alignment.evidence", "hold_out"), ("alignment.judging.judge", "run_contest"),
    ("alignment.align", "advise"), ("alignment.align", "package"), ("alignment.package", "correct"),
)  # fmt: skip


def make(n: int, d: int, noise: float, device: str, seed: int = 0) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """Unit vectors around 40 centres, their turned, shuffled, noisy copy; the turn; which row of y is whose; starts."""
    like: dict[str, Any] = {"generator": torch.Generator(device).manual_seed(seed), "device": device}
    spread = torch.arange(1, d + 1, device=device) ** -0.3
    centres = torch.randn((40, d), **like) * spread
    x = sum(
        (1 - torch.rand((n, d), **like)).log_() for _ in range(2)
    )  # minus a gamma variable of shape 2; log(0) avoided
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


def wait(like: Any) -> float:
    """Wait for the device, and return the time."""
    if like.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter()


class Clock:
    """Inclusive seconds of the functions in ``PARTS``, while it is entered."""

    def __init__(self, like: Any) -> None:
        self.like, self.seconds, self.calls = like, Counter[str](), Counter[str]()
        self.kept: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Clock:
        for module_name, name in PARTS:
            module = importlib.import_module(f"invarot.{module_name}")
            self.kept.append((module, name, getattr(module, name)))
            setattr(module, name, self.watch(f"{module_name.rpartition('.')[2]}.{name}", getattr(module, name)))
        return self

    def watch(self, label: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            begun = wait(self.like)
            try:
                return call(*arguments, **options)
            finally:
                self.seconds[label] += wait(self.like) - begun
                self.calls[label] += 1

        return timed

    def __exit__(self, *error: object) -> None:
        for module, name, call in self.kept:
            setattr(module, name, call)


def solve(x: Any, y: Any, turn: Any, right: Any, start: Any, *, sums: bool = False) -> dict[str, Any]:
    """Align once; seconds by part and by step, memory, the share of right matches, the verdict."""
    if x.is_cuda:
        torch.cuda.reset_peak_memory_stats()
    rows: list[list[Any]] = []
    given = start if isinstance(start, str) else torch.from_numpy(start.astype(np.float32)).to(x.device)
    begun = last = wait(x)

    def watch(step: Any) -> None:
        nonlocal last
        now = wait(x)
        off = float(torch.linalg.norm(torch.as_tensor(step.map, device=x.device) - turn)) / turn.shape[0] ** 0.5
        rows.append(
            [step.stage, round(step.epsilon, 5), step.inner_iterations, round(off, 5), step.mode, round(now - last, 3)]
        )
        last = wait(x)

    with Clock(x) as clock:
        found = invarot.align(x, y, start=given, on_step=watch)
        ended = wait(x)
    matches = found.matches("plan")
    matched = wait(x)
    full = [row for row in rows if row[0] in ("solve", "sharpen")]
    told = {
        "seconds": round(ended - begun, 2), "matches_seconds": round(matched - ended, 2),
        "full_steps": len(full), "full_sweeps": sum(row[2] for row in full), "full_seconds": round(sum(row[5] for row in full), 2),
        "judging_share": round(clock.seconds["align.judge"] / (ended - begun - clock.seconds["align.judge"]), 3),
        "parts": {name: [round(value, 2), clock.calls[name]] for name, value in clock.seconds.most_common()},
        "peak_gib": round(peak(x), 2), "right": float((matches == right).double().mean()), "verdict": str(found.verdict),
        "status": found.status.name, "error": found.plan.error, "objective": found.objective,
        "off": float(torch.linalg.norm(found.map - turn)) / turn.shape[0] ** 0.5, "steps": rows,
    }  # fmt: skip
    if sums:
        left, below = found.plan.marginals()
        told["sums_off"] = [float(torch.sum(torch.abs(one - 1 / len(one)))) for one in (left, below)]
    return told


def peak(x: Any) -> float:
    """GiB: of the device, or of the process on a CPU."""
    if x.is_cuda:
        return torch.cuda.max_memory_allocated() / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--d", type=int, default=100)
    parser.add_argument("--noise", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--starts", nargs="+", default=["auto", "near", "mirrored"])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sums", action="store_true", help="measure the row and column sums of the plan")
    parser.add_argument("--profile", action="store_true", help="one more solve from auto under cProfile, 40 lines")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.device != "cpu":
        solve(*make(20_000, args.d, args.noise, args.device)[:4], "auto")
    name = torch.cuda.get_device_name() if args.device != "cpu" else "cpu"
    found: dict[str, Any] = {
        "commit": describe_commit(), "device": name, "torch": torch.__version__, "d": args.d, "noise": args.noise, "seed": args.seed,
    }  # fmt: skip
    for n in args.n:
        x, y, turn, right, starts = make(n, args.d, args.noise, args.device, args.seed)
        for start in args.starts:
            row = found[f"{n} {start}"] = solve(x, y, turn, right, starts[start], sums=args.sums)
            for step in row["steps"]:
                print(*step)
            print(n, start, json.dumps({key: value for key, value in row.items() if key != "steps"}), flush=True)
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
