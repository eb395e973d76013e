"""``invarot bench``: speed and memory against other libraries, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app, stderr


@app.command("bench")
def bench_command(
    n: Annotated[int, typer.Option(min=100, help="Points of each cloud.")] = 5000,
    d: Annotated[int, typer.Option(min=2, help="Dimensions.")] = 300,
    sizes: Annotated[
        str, typer.Option(help="Sizes of the scaling curve, separated by spaces.")
    ] = "1000 2000 5000 10000 20000 50000",
    cap: Annotated[float, typer.Option(min=0.1, help="Seconds a rival may take before its time is computed.")] = 40.0,
    out: Annotated[Path, typer.Option(help="Folder for bench.md, bench.csv and bench.png.")] = Path("results"),
) -> None:
    """Compare one plan step, one iteration and a full alignment with POT, OTT-JAX and GeomLoss (extra: bench)."""
    from ..experiments.bench import run_bench

    counts = [int(size) for size in sizes.split()]
    print(run_bench(out, n=n, d=d, sizes=counts, cap=cap, say=lambda text: stderr.print(text, highlight=False)))
