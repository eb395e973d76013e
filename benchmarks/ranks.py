"""One solve over several ranks: seconds, CPU seconds, memory of the x side and bytes sent per rank; on CUDA against one device.

    python benchmarks/ranks.py --ranks 1 2 4 --n 20000 --m 20000 --d 100 [--start auto] [--cut] --out results/ranks.json
    torchrun --nproc-per-node=1 benchmarks/ranks.py --cuda --points 200000 --dimensions 100

The first starts the ranks itself (gloo, one thread each) and solves from a given start at a fixed schedule, so that all of the work
is over rows; ``--start auto`` is the whole default call instead. A small solve before loads what the first call loads. The second runs
inside torchrun with NCCL, beside `invarot.align` on one device with the same start, and with y cut as well.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import invarot
from invarot import Schedule, Sinkhorn, distributed
from invarot.distributed.shards import Shards
from invarot.experiments.provenance import describe_commit

SCHEDULE = Schedule(0.05, 0.6, 0.02)


def make(n: int, m: int, d: int) -> tuple[Any, Any, Any, Any]:
    """A cloud around 40 centres, a turned, shuffled, noisy copy of m of its points, the turn, a start 0.2 off."""
    rng = np.random.default_rng(0)
    spread = np.arange(1, d + 1, dtype=np.float32) ** -0.3
    centres = rng.standard_normal((40, d), dtype=np.float32) * spread
    x = centres[rng.integers(0, 40, n)] + 0.5 * rng.standard_gamma(2.0, (n, d), dtype=np.float32) * spread
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    y = x[rng.permutation(max(n, m))[:m] % n] @ turn.astype(np.float32)
    y += np.float32(0.3 / d**0.5) * rng.standard_normal((m, d), dtype=np.float32)
    u, _, vt = np.linalg.svd(turn + 0.3 * rng.standard_normal((d, d)) / d**0.5)
    return x, y, turn, (u @ vt).astype(np.float32)


def solve_rank(args: argparse.Namespace) -> dict[str, Any]:
    """One rank of a gloo group: its own rows only are kept before the solve begins."""
    import torch.distributed as dist

    rank, count = args.rank, args.ranks[0]
    x, y, turn, start = make(args.n, args.m, args.d)
    x = x[args.n * rank // count : args.n * (rank + 1) // count].copy()
    y = y[args.m * rank // count : args.m * (rank + 1) // count].copy() if args.cut else y
    dist.init_process_group("gloo", init_method=f"file://{args.meet}", rank=rank, world_size=count)
    made: list[Shards] = []
    keep = Shards.of
    Shards.of = classmethod(lambda cls, *rest: made.append(keep(*rest)) or made[-1])  # type: ignore[assignment, method-assign]
    steps: list[tuple[int, int]] = []
    distributed.align(x[:200], y[:200], start=start, cut_y=args.cut, solver=Sinkhorn(schedule=0.1, max_iter=1))
    made.clear()
    dist.barrier()
    rows, tall = len(x) * args.d * 4, _resident()
    targets = len(y) * args.d * 4
    begun, cpu = time.perf_counter(), time.process_time()
    given: dict[str, Any] = {
        "given": {"start": start, "solver": Sinkhorn(schedule=SCHEDULE, max_iter=args.steps, memory=args.memory)},
        "auto": {"solver": Sinkhorn(memory=args.memory)},
    }[args.start]
    watch = _Watch()
    result = distributed.align(
        x, y, cut_y=args.cut, **given,
        on_step=lambda step: (steps.append((step.inner_iterations, *(one.sent for one in made))), watch.look()),
    )  # fmt: skip
    ended, spent = time.perf_counter(), time.process_time()
    dist.destroy_process_group()
    return {
        "rank": rank, "seconds": ended - begun, "cpu": spent - cpu,
        "steps_seconds": watch.seconds - begun, "steps_cpu": watch.cpu - cpu,
        "x_bytes": rows, "y_bytes": targets, "grown_mib": (watch.most - tall) / 2**20, "steps": steps, "verdict": result.verdict.word,
        "off": float(np.linalg.norm(result.map - turn) / args.d**0.5), "m": args.m, "d": args.d,
    }  # fmt: skip


class _Watch:
    """The largest resident size at the ends of steps, where all arrays of the x side are held."""

    most, seconds, cpu = 0, 0.0, 0.0

    def look(self) -> None:
        self.most = max(self.most, _resident())
        self.seconds, self.cpu = time.perf_counter(), time.process_time()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def run_ranks(args: argparse.Namespace, count: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--meet", f"{folder}/meet", "--ranks", str(count), "--n", str(args.n),
                   "--m", str(args.m), "--d", str(args.d), "--steps", str(args.steps), "--memory", args.memory, "--start", args.start]  # fmt: skip
        command += ["--cut"] if args.cut else []
        running = [
            subprocess.Popen([*command, "--rank", str(rank)], env=environment, stdout=subprocess.PIPE, text=True)
            for rank in range(count)
        ]
        return [json.loads(one.communicate()[0].splitlines()[-1]) for one in running]


def solve_cuda(args: argparse.Namespace) -> None:
    """NCCL over the ranks of torchrun against one device, the same start and schedule; median of three after a first."""
    import torch
    import torch.distributed as dist

    cuda = torch.cuda.is_available()  # else gloo on the CPU, to try the script
    where = f"cuda:{os.environ['LOCAL_RANK']}" if cuda else "cpu"
    wait = torch.cuda.synchronize if cuda else (lambda: None)
    if cuda:
        torch.cuda.set_device(where)
    dist.init_process_group("nccl" if cuda else "gloo")
    rank, count = dist.get_rank(), dist.get_world_size()
    x, y, turn, start = (
        torch.from_numpy(np.asarray(one, np.float32)).to(where) for one in make(args.n, args.m, args.d)
    )
    own = x[args.n * rank // count : args.n * (rank + 1) // count].clone()
    part = y[args.m * rank // count : args.m * (rank + 1) // count].clone()
    solver = Sinkhorn(schedule=SCHEDULE, max_iter=args.steps)
    times: dict[str, list[float]] = {"one device": [], "ranks": [], "ranks, y cut": []}
    found: dict[str, Any] = {}
    for _ in range(4):
        for name, call in (
            ("one device", lambda: invarot.align(x, y, start=start, solver=solver)),
            ("ranks", lambda: distributed.align(own, y, start=start, solver=solver)),
            ("ranks, y cut", lambda: distributed.align(own, part, cut_y=True, start=start, solver=solver)),
        ):
            wait()
            begun = time.perf_counter()
            found[name] = call()
            wait()
            times[name].append(time.perf_counter() - begun)
    if rank == 0:
        medians = {name: statistics.median(one[1:]) for name, one in times.items()}
        text = json.dumps({
            "commit": describe_commit(), "device": torch.cuda.get_device_name() if cuda else "cpu", "n": args.n, "m": args.m, "d": args.d, "ranks": count,
            "seconds": medians, "all": times, "ratio": medians["ranks"] / medians["one device"],
            "maps_apart": float(torch.linalg.norm(found["ranks"].map - found["one device"].map)),
            "cut_ratio": medians["ranks, y cut"] / medians["one device"],
            "cut_maps_apart": float(torch.linalg.norm(found["ranks, y cut"].map - found["one device"].map)),
            "cut_matches_equal": float((found["ranks, y cut"].matches("plan") == found["ranks"].matches("plan")).double().mean()),
            "off": float(torch.linalg.norm(found["ranks"].map - turn)), "verdict": found["ranks"].verdict.word,
            "steps": {name: [[step.stage, step.inner_iterations, step.mode] for step in one.history] for name, one in found.items()},
        }, indent=1)  # fmt: skip
        print(text)
        if args.out is not None:
            args.out.write_text(text + "\n", encoding="utf-8")
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument(
        "--points", "--n", dest="n", type=int, default=20_000, help="torchrun takes --n and --d for its own"
    )
    parser.add_argument("--m", type=int)
    parser.add_argument("--dimensions", "--d", dest="d", type=int, default=100)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--cut", action="store_true", help="cut y over the ranks as well")
    parser.add_argument("--start", choices=("given", "auto"), default="given")
    parser.add_argument("--cuda", action="store_true", help="inside torchrun: NCCL against one device")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--meet", help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore", invarot.NotConverged)  # few steps on purpose
    args.m = args.m or args.n
    if args.cuda:
        solve_cuda(args)
        return
    if args.rank is not None:
        print(json.dumps(solve_rank(args)))
        return
    found: dict[str, Any] = {
        "commit": describe_commit(),
        "n": args.n,
        "m": args.m,
        "d": args.d,
        "start": args.start,
        "cut": args.cut,
        "runs": {},
    }
    for count in args.ranks:
        found["runs"][count] = run_ranks(args, count)
        for one in found["runs"][count]:
            print(count, {key: value for key, value in one.items() if key != "steps"}, flush=True)
    if {1, 2} <= found["runs"].keys():
        for name in ("seconds", "steps_seconds", "cpu", "steps_cpu"):
            slowest = {count: max(one[name] for one in found["runs"][count]) for count in (1, 2)}
            found[f"ratio_{name}"] = slowest[1] / slowest[2]
            print(f"1 rank over 2 ranks, {name}: {found[f'ratio_{name}']:.3f}")
    text = json.dumps(found, indent=1)
    if args.out is not None:
        args.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
