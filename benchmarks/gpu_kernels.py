"""The streaming kernels against the library's matrix products and flash-sinkhorn, on one CUDA device, in one run.

    python benchmarks/gpu_kernels.py [--out results] [--others folder-with-flash_sinkhorn]

Writes gpu_kernels.csv and gpu_kernels.md. Times are medians over 100 ms of calls after a warm-up; inputs are random.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
from provenance import header, write_page
from triton.testing import do_bench

from invarot.transport.gpu import ops

Rows = list[dict[str, Any]]
CASES = "5000x300,20000x300,50000x100,50000x300,50000x64,50000x768"
COMMAND = "python benchmarks/gpu_kernels.py --others <folder with flash-sinkhorn 0.4.1>"


def median(call: Callable[[], Any], repeat_ms: int = 100) -> float:
    return float(do_bench(call, warmup=20, rep=repeat_ms, return_mode="median"))


def recorded(call: Callable[[], Any]) -> float:
    """The same for a CUDA graph of the call."""
    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return median(graph.replay)


def unit(rng: torch.Generator, n: int, d: int) -> Any:
    x = torch.randn(n, d, generator=rng, device="cuda")
    return x / torch.linalg.vector_norm(x, dim=1, keepdim=True)


def ceilings() -> tuple[float, float]:
    """Half-precision products a second (TFLOP/s) and bytes moved (TB/s), as measured here."""
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    big = torch.randn(1 << 30, device="cuda")
    to = torch.empty_like(big)
    return 2 * 8192**3 / median(lambda: a @ a) / 1e9, 8 * big.numel() / median(lambda: to.copy_(big)) / 1e9


def half_iteration(rows: Rows, rng: torch.Generator, n: int, d: int, flash: Callable[..., Any] | None) -> None:
    """One log-sum-exp over the other side and one ``apply``, n = m, beside what they are measured against."""
    z, y, v, scale = unit(rng, n, d), unit(rng, n, d), torch.zeros(n, device="cuda"), 20.0
    zp, yp = ops.prepare(z), ops.prepare(y)
    plain, padded = (z.half(), y.half()), (zp.data[0], yp.data[0])
    dense = torch.empty(n, n, device="cuda", dtype=torch.float16)
    first = [median(lambda p=p: torch.mm(p[0], p[1].T, out=dense)) for p in (plain, padded)]
    second = [median(lambda p=p: torch.mm(dense, p[1])) for p in (plain, padded)]
    guess = ops.lse(zp, yp, v, scale)
    u = -guess - math.log(n)

    def add(what: str, ms: float, against: str = "", ratio: float = math.nan, wanted: str = "") -> None:
        rows.append({"what": what, "n": n, "d": d, "ms": ms, "against": against, "ratio": ratio, "wanted": wanted})
        print(f"{what:48s} n {n:6d} d {d:4d} {ms:9.3f} ms  {against} {ratio:.2f} {wanted}", flush=True)

    bare, both = min(first), min(first) + min(second)
    add("fp16 product z yᵀ, library, rows as they are", first[0])
    add("fp16 product z yᵀ, library, rows padded", first[1])
    warm = median(lambda: ops.lse(zp, yp, v, scale, guess=guess))
    add(
        "lse, warm (guess given)",
        warm,
        "the faster bare product",
        warm / bare,
        "≤ 1.35" if (n, d) == (50_000, 300) else "",
    )
    cold = median(lambda: ops.lse(zp, yp, v, scale))
    add("lse, cold (no guess)", cold, "the faster bare product", cold / bare)
    raw = median(lambda: ops.lse(z, y, v, scale, guess=guess, precision="fp16"))
    add("lse, warm, rounding the points included", raw, "the faster bare product", raw / bare)
    if flash is not None:
        theirs = median(lambda: flash(z, y, v, 1 / scale, cost_scale=0.5, allow_tf32=True))
        off = float((guess + scale * flash(z, y, v, 1 / scale, cost_scale=0.5, allow_tf32=True)).abs().max())
        wanted = {300: "≥ 3.5", 64: "≥ 2", 768: "≥ 2"}.get(d, "") if n == 50_000 else ""
        add(f"flash-sinkhorn 0.4.1, TF32 (differs by {off:.0e})", theirs, "our warm lse", theirs / warm, wanted)
    add("second product P y, library", min(second))
    fused = median(lambda: ops.apply(zp, yp, u, v, yp, scale))
    add("apply, t = y", fused, "its two products", fused / both, "≤ 1.5")
    if n <= 20_000:  # here the host is slower than the device, unless its calls are recorded once
        graph = recorded(lambda: ops.lse(zp, yp, v, scale, guess=guess))
        add("lse, warm, CUDA graph", graph, "the faster bare product", graph / bare)
        graph = recorded(lambda: ops.apply(zp, yp, u, v, yp, scale))
        add("apply, t = y, CUDA graph", graph, "its two products", graph / both, "≤ 1.5")
    if (n, d) == (50_000, 300):
        other = ops.prepare(y)
        add("apply, t another matrix as wide", median(lambda: ops.apply(zp, yp, u, v, other, scale)))
        add("best", median(lambda: ops.best(zp, yp, v, scale)))
        for precision in ("bf16", "tf32", "fp32"):
            zq, yq = ops.prepare(z, precision=precision), ops.prepare(y, precision=precision)
            add(f"lse, warm, {precision}", median(lambda a=zq, b=yq: ops.lse(a, b, v, scale, guess=guess)))


def batch(rows: Rows, rng: torch.Generator) -> None:
    """1,000 problems of 200 points in 3 dimensions: one launch each way."""
    z, y = torch.randn(1000, 200, 3, generator=rng, device="cuda"), torch.randn(200, 3, generator=rng, device="cuda")
    v = torch.zeros(1000, 200, device="cuda")
    zp, yp = ops.prepare(z), ops.prepare(y)
    u = -ops.lse(zp, yp, v, 1.0) - math.log(200)
    found = {
        "lse, batch of 1,000": median(lambda: ops.lse(zp, yp, v, 1.0)),
        "lse, batch of 1,000, CUDA graph": recorded(lambda: ops.lse(zp, yp, v, 1.0)),
        "apply, batch of 1,000": median(lambda: ops.apply(zp, yp, u, v, yp, 1.0)),
        "apply, batch of 1,000, CUDA graph": recorded(lambda: ops.apply(zp, yp, u, v, yp, 1.0)),
    }
    for what, ms in found.items():
        rows.append({"what": what, "n": 200, "d": 3, "ms": ms, "against": "", "ratio": math.nan, "wanted": ""})
        print(what, ms, flush=True)


def errors(rng: torch.Generator) -> Rows:
    """Potentials of 30 Sinkhorn iterations by the kernels against float64, in units of epsilon."""
    found: Rows = []
    for kind, d in (("unit vectors", 300), ("Gaussian cloud", 50), ("Gaussian cloud", 3)):
        n = 3000
        z = torch.randn(n, d, generator=rng, device="cuda", dtype=torch.float64)
        y = z + 0.5 * torch.randn(n, d, generator=rng, device="cuda", dtype=torch.float64)
        if kind == "unit vectors":
            z, y = (x / torch.linalg.vector_norm(x, dim=1, keepdim=True) for x in (z, y))
        mean_cost = float((z**2).sum(1).mean() + (y**2).sum(1).mean())
        for relative in (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001):
            scale = 2 / (relative * mean_cost)
            largest = float(torch.linalg.vector_norm(z, dim=1).max() * torch.linalg.vector_norm(y, dim=1).max())
            precision = ops.choose_precision(1 / (scale * largest), dim=d)
            kernel, log_n = scale * (z @ y.T), math.log(n)
            start = -(y**2).sum(1) * scale / 2  # the cost is ‖z − y‖²: the potentials hold what ⟨z, y⟩ does not
            zp, yp = (ops.prepare(x, precision=precision) for x in (z, y))
            v64, v32 = start, start.float()
            one, worst = 0.0, dict.fromkeys(("fp16", "tf32", "fp32"), 0.0)
            u32 = None
            for _ in range(30):
                u64 = -torch.logsumexp(kernel + v64, dim=1) - log_n
                one = max(one, float((ops.lse(zp, yp, v64, scale) + u64 + log_n).abs().max()))
                v64 = -torch.logsumexp(kernel.T + u64, dim=1) - log_n
                u32 = -ops.lse(zp, yp, v32, scale, guess=None if u32 is None else -u32 - log_n) - log_n
                v32 = -ops.lse(yp, zp, u32, scale, guess=-v32 - log_n) - log_n
            for p in worst:
                got = ops.lse(z, y, v64, scale, precision=p)
                worst[p] = float((got - torch.logsumexp(kernel + v64, dim=1)).abs().max())
            drift = (u32.double() - u64) - (u32.double() - u64).mean()
            found.append(
                {"points": kind, "d": d, "epsilon": relative, "chosen": precision, "one half-iteration": one}
                | {"after 30 iterations": float(drift.abs().max())}
                | {f"lse in {p}": e for p, e in worst.items()}
            )
            print(found[-1], flush=True)
    return found


def table(rows: Rows) -> list[str]:
    def show(x: Any) -> str:
        return "" if isinstance(x, float) and math.isnan(x) else f"{x:.3g}" if isinstance(x, float) else str(x)

    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return lines + ["| " + " | ".join(show(r[name]) for name in names) + " |" for r in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--others", type=Path, help="a folder that holds the package flash_sinkhorn")
    parser.add_argument("--cases", default=CASES, help=f"sizes n x d, {CASES} unless given")
    parser.add_argument("--accuracy", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args()
    flash = None
    if given.others is not None:
        sys.path.insert(0, str(given.others))
    try:
        from flash_sinkhorn.kernels.sinkhorn_flashstyle_sqeuclid import flashsinkhorn_lse as flash
    except ImportError:
        print("flash-sinkhorn is not installed: its rows are left out")
    rng = torch.Generator(device="cuda").manual_seed(0)
    rate, copy = ceilings()
    about = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}; "
    about += f"fp16 product of 8192³ {rate:.0f} TFLOP/s, copy {copy:.2f} TB/s"
    print(about, flush=True)
    rows: Rows = []
    batch(rows, rng)
    accuracy = errors(rng) if given.accuracy else []
    for n, d in (map(int, case.split("x")) for case in given.cases.split(",")):
        half_iteration(rows, rng, n, d, flash if n == 50_000 and d != 100 else None)
        write(given.out, about, rows, accuracy)


def write(out: Path, about: str, rows: Rows, accuracy: Rows) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with (out / "gpu_kernels.csv").open("w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    text = ["# The streaming kernels on one GPU", "", *header(COMMAND), about, ""]
    text += [
        "Medians; n = m; `wanted` is a bound on `ratio`. Rows: [gpu_kernels.csv](gpu_kernels.csv).",
        "",
        *table(rows),
        "",
    ]
    if accuracy:
        text += ["## Error against float64", ""]
        text += ["In natural-log units, that is, in units of epsilon; of the chosen precision below 0.01 is wanted."]
        text += ["`epsilon` is relative to the mean cost.", "", *table(accuracy), ""]
    write_page(out / "gpu_kernels.md", text)


if __name__ == "__main__":
    main()
