"""Speed and memory beside POT, OTT-JAX and GeomLoss, on this machine (pip install '.[bench]').

    python -m benchmarks.speed [--n 5000] [--d 300] [--sizes 1000 2000 …] [--cap 40] [--out results]

From the root of the repository; ``make bench`` does it. Compares one plan step, one iteration and a full alignment, and
writes bench.md, bench.csv and bench.png.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("ot", "numba", "matplotlib", "jax", "ott", "geomloss", "torch")  # GeomLoss brings torch


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=5000, help="points of each cloud")
    parser.add_argument("--d", type=int, default=300, help="dimensions")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 5000, 10000, 20000, 50000])
    parser.add_argument("--cap", type=float, default=40.0, help="seconds a rival may take before its time is computed")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        parser.error(f"expected the rivals, got no {', '.join(missing)}; install them first: pip install '.[bench]'")
    if len(args.sizes) < 2:
        parser.error("--sizes: two or more are needed for an exponent")
    from .run import run_bench

    print(run_bench(args.out, n=args.n, d=args.d, sizes=args.sizes, cap=args.cap, say=_say))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
