"""Random calls of `align`: all its options, odd clouds and odd weights."""

from __future__ import annotations

import math
import warnings
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any

import numpy as np

import invarot
from invarot import Exact, NotAligned, NotConverged, Rotations, Schatten, Schedule, Search, Sinkhorn, Stages
from invarot.errors import InputError, MemoryBound

if find_spec("ot"):
    import_module("ot")  # here: what it warns of while it is imported is not ours

DOCUMENTED = (InputError, MemoryBound, NotAligned)
STARTS = ("auto", "auto", "random", "identity", "seeds", "axes", "signature", "fused", "relaxation", "clusters")


def make_cloud(rng: Random, n: int, d: int) -> np.ndarray:
    """Points of a shape that people have: blobs, lines, grids, copies, many scales."""
    draw = np.random.default_rng(rng.getrandbits(32))
    kind = rng.randrange(9)
    points = draw.standard_normal((n, d)) if kind < 4 else draw.gamma(1.0, size=(n, d))
    if kind == 4:
        points = np.round(points)  # many points in one place
    elif kind == 5:
        points[:, 1:] = 0  # a line
    elif kind == 6:
        points = np.repeat(points[:1], n, axis=0)  # one point
    elif kind == 7:
        points *= 10.0 ** draw.integers(-8, 8, d)
    elif kind == 8:
        points += 10.0 ** rng.randint(0, 8)
    points *= 10.0 ** rng.choice((0, 0, 0, 0, 0, -6, 6, 3, -20, 17, -43, 37))
    with np.errstate(over="ignore"):  # too large for float32: refused
        return points.astype(rng.choice(("f8", "f8", "f4")))


def make_weights(rng: Random, n: int) -> np.ndarray | None:
    if rng.random() < 0.6:
        return None
    draw = np.random.default_rng(rng.getrandbits(32))
    weights = draw.random(n) ** rng.choice((1, 1, 5, 30))
    if rng.random() < 0.3:
        weights[draw.random(n) < 0.3] = 0
    return weights / weights.sum() if weights.sum() > 0 else None


def make_maps(rng: Random) -> Any:
    p = rng.choice((math.inf, math.inf, math.inf, 1, 1.5, 2, 4))
    kind = rng.random()
    if kind < 0.6:
        return p
    radius = rng.choice((None, None, None, 0.5, 3, 1e-3, 1e300))
    whiten = rng.random() < 0.4
    return Rotations(radius, whiten) if kind < 0.75 else Schatten(p, radius, whiten)


def make_solver(rng: Random, d: int) -> Any:
    objective = rng.choice(("simplified",) * 5 + ("transport",))
    stages = rng.choice((None, None, None, Stages((2 * d + 1,)), Stages((2 * d,), of="clusters")))
    shared = {
        "tol": rng.choice((1e-5, 1e-3, 0.1)), "max_iter": rng.choice((5, 50)), "objective": objective, "stages": stages,
        "refit": objective == "simplified" and rng.random() < 0.2, "memory": rng.choice((None, None, "1GB", "100kB")),
    }  # fmt: skip
    if rng.random() < 0.2:
        return Exact(**shared)
    schedule = rng.choice(
        (None, None, 0.1, 1e-3, 1e-8, 100.0, 1e300, 1e-300, Schedule(0.1, 0.5, 0.01), Schedule(1.0, 0.3, 1e-6, adaptive=True),
         Schedule(1.0, 0.5, 1e-3, absolute=True))
    )  # fmt: skip
    return Sinkhorn(schedule, plan_tol=rng.choice((1e-3, 1e-3, 0.1, 0.0)), plan_max_iter=rng.choice((5, 50)), **shared)


def make_call(rng: Random) -> dict[str, Any]:
    """Return the arguments of one call, which need not go together."""
    n, m = rng.randint(2, 14), rng.randint(2, 14)
    dx, dy = rng.randint(1, 5), rng.randint(1, 5)
    if rng.random() < 0.6:
        m, dy = n, dx
    x = make_cloud(rng, n, dx)
    y = make_cloud(rng, m, dy)
    if n == m and dx == dy and rng.random() < 0.6:  # a pair that belongs together
        turn = np.linalg.qr(np.random.default_rng(rng.getrandbits(32)).standard_normal((dx, dx)))[0]
        with np.errstate(all="ignore"):
            y = (x[::-1] @ turn).astype(x.dtype)
    call: dict[str, Any] = {
        "x": x, "y": y, "a": make_weights(rng, n), "b": make_weights(rng, m), "p": make_maps(rng),
        "translate": rng.random() < 0.4, "scale": rng.random() < 0.2, "rng": rng.randrange(100),
    }  # fmt: skip
    start = rng.choice(STARTS)
    if start == "seeds" or rng.random() < 0.1:
        call["seeds"] = np.array([(rng.randrange(n), rng.randrange(m)) for _ in range(rng.randint(1, 4))])
    call["start"] = np.eye(dx, dy) * rng.choice((1, 0, 1e10)) if rng.random() < 0.05 else start
    if isinstance(call["start"], str) and start == "random":
        call["n_starts"] = rng.choice((None, 1, 3))
    if isinstance(call["start"], str) and start == "auto":
        call["effort"] = rng.choice((None, "quick", "quick", "normal"))
    if rng.random() < 0.7:
        call["solver"] = make_solver(rng, min(dx, dy))
    if rng.random() < 0.2:
        side = (np.arange(n, dtype=float), np.arange(m, dtype=float)) if start in ("auto", "signature") else None
        call["search"] = Search(ordered=rng.random() < 0.5, side=side)
    if rng.random() < 0.05:
        call["require"] = "aligned"
    if rng.random() < 0.15:
        add_overlap(rng, call)
    return call


def add_overlap(rng: Random, call: dict[str, Any]) -> None:
    """Ask for a part, mostly without the options that this excludes."""
    call["overlap"] = rng.choice(("auto", "auto", 0.5, 0.9, 1.0, (0.5, 0.7), 1e-9))
    if rng.random() < 0.9:
        call["p"] = rng.choice((math.inf, Rotations()))
        call.pop("solver", None)
    if rng.random() < 0.2:
        call["solver"] = rng.choice((Exact(), Sinkhorn(0.1, max_iter=20), Sinkhorn(max_iter=5)))


def try_align(rng: Random) -> str:
    """Make one call: "aligned", "refused" or "not aligned"; anything else raises."""
    return judge_call(make_call(rng))


def judge_call(call: dict[str, Any]) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # other people's warnings are failures
            warnings.simplefilter("ignore", NotConverged)
            warnings.filterwarnings("ignore", "The NumPy global RNG was seeded", FutureWarning)  # by hypothesis
            found = invarot.align(**call)
    except NotAligned:
        return "not aligned"
    except DOCUMENTED:
        return "refused"
    check_result(found)
    return "aligned"


def check_result(found: invarot.Alignment) -> None:
    """Everything finite, and the plan's marginals as far off as it says."""
    for name, array in (("map", found.map), ("offset", found.offset)):
        assert np.isfinite(array).all(), f"{name} is not finite"
    assert math.isfinite(found.objective), "the objective is not finite"
    plan = found.plan
    with np.errstate(over="ignore"):
        rows, columns = plan.marginals()
    assert math.isfinite(plan.error), "the error of the plan is not finite"
    assert np.isfinite(rows).all(), "the plan is not finite"
    assert np.isfinite(columns).all(), "the plan is not finite"
    if found.overlap is not None:
        assert all(0 <= share <= 1 + 1e-6 for share in found.overlap), "a share is not in [0, 1]"
        return
    if isinstance(plan, invarot.transport.plan.EntropicPlan):
        missing = max(float(np.abs(rows - plan.a).sum()), float(np.abs(columns - plan.b).sum()))
        assert missing <= plan.error + 1e-3, f"the marginals are {missing:.2g} off, the plan says {plan.error:.2g}"
    assert abs(float(rows.sum()) - 1) <= 1e-3 + plan.error, f"the plan has a mass of {rows.sum():.3g}"
