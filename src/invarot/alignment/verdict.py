"""Did it work? A label-free answer, with the evidence behind it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Array, as_like, device, is_torch, namespace, to_numpy, transpose
from ..threads import map_blocks
from ..transport.plan import EntropicPlan, SparsePlan
from .problem import Problem
from .settings import Settings

BLOCK = 1 << 21  # scores held at a time, a thread
QUERIES = 2000  # source points that the evidence is gathered on, at most

# The rule, fitted by benchmarks/calibrate_verdict.py: log-odds = BIAS + Σ weight·feature (results/verdict.md).
BIAS = -14.38
WEIGHTS = {"gain": 13.53, "split": 6.4, "mutual": 5.96, "patchy": -13.22}
ALIGNED, FAILED = 0.88, 0.3


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on; every share is between 0 and 1 and larger is better.

    Attributes
    ----------
    gain : the part of the way from the null (same coordinates, no correspondence) to a perfect score that was won.
    split : how often maps refitted on two disjoint halves of the source send a point to the same target.
    mutual : share of source points that are the nearest neighbour of their own nearest neighbour, mapped.
    cycle : share of source mass that the plan's best match sends back to where it came from.
    agreement : share of the finished starts that ended at this map.
    rivals : other maps, as good by the objective, that send points elsewhere: a symmetry of the clouds.
    marginal_error : l_1 error of the plan's marginals.
    """

    gain: float
    split: float
    mutual: float
    cycle: float
    agreement: float
    rivals: int
    marginal_error: float


@dataclass(frozen=True)
class Verdict:
    """``word`` is ``aligned``, ``doubtful`` or ``failed``; ``probability`` that the alignment is right."""

    word: str
    probability: float
    evidence: Evidence
    reasons: tuple[str, ...]
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.word} (probability {self.probability:.2f}): " + "; ".join(self.reasons)

    def __bool__(self) -> bool:
        return self.word == "aligned"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(
    problem: Problem,
    settings: Settings,
    w: Array,
    plan: EntropicPlan | SparsePlan,
    *,
    agreement: float,
    rivals: int,
    rng: np.random.Generator,
) -> Verdict:
    """The verdict on a map w (dx, dy) with its plan."""
    evidence = Evidence(
        gain=gain_over_null(problem, settings, w, rng),
        split=split_agreement(problem, settings, w, rng),
        mutual=mutual_share(problem, w, rng),
        cycle=cycle_share(plan),
        agreement=agreement,
        rivals=rivals,
        marginal_error=float(plan.error),
    )
    return decide(evidence)


def features(evidence: Evidence) -> dict[str, float]:
    """What the rule weighs: √gain, split, mutual, and how much the gain exceeds the share of points that have it.

    A map that is right has its gain everywhere; one that is right in places gains more than it has mutual neighbours.
    """
    gain = max(evidence.gain, 0.0)
    patchy = max(gain - evidence.mutual, 0.0)
    return {"gain": gain**0.5, "split": evidence.split, "mutual": evidence.mutual, "patchy": patchy}


def decide(evidence: Evidence) -> Verdict:
    """The rule alone."""
    weighed = features(evidence)
    odds = BIAS + sum(weight * weighed[name] for name, weight in WEIGHTS.items())
    probability = 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))
    reasons = [
        f"{evidence.gain:.0%} of the way from chance to a perfect score",
        f"maps from two halves agree on {evidence.split:.0%} of the points",
        f"{evidence.mutual:.0%} mutual nearest neighbours",
    ]
    symmetric = evidence.rivals > 0 and probability >= FAILED  # several maps, and each would pass for right
    word = "aligned" if probability >= ALIGNED else "failed" if probability < FAILED else "doubtful"
    if symmetric:
        word, probability = "doubtful", min(probability, 1 / (1 + evidence.rivals))
        plural = "s" * (evidence.rivals > 1)
        reasons.insert(0, f"{evidence.rivals} other map{plural} as good: the clouds look symmetric")
    return Verdict(word, probability, evidence, tuple(reasons), symmetric)


# -- evidence --------------------------------------------------------------------------------------------------------


def nearest(z: Array, y: Array) -> Array:
    """For each row of z the nearest row of y, in blocks."""
    xp = namespace(z)
    half = xp.sum(y**2, axis=1) / 2
    step = max(1, BLOCK // y.shape[0])
    blocks = [slice(i, i + step) for i in range(0, z.shape[0], step)]

    def work(rows: slice) -> Array:
        return xp.argmax(z[rows] @ transpose(y) - half, axis=1)

    return xp.concat(list(map(work, blocks) if is_torch(z) else map_blocks(work, blocks)))


def _some(count: int, rng: np.random.Generator, like: Array) -> Array:
    """At most QUERIES row numbers, in random order."""
    return as_like(rng.permutation(count)[:QUERIES], like, dtype=namespace(like).int64)


def mutual_pairs(x: Array, y: Array, w: Array) -> tuple[Array, Array]:
    """Row numbers (i, j) of x and y that are each other's nearest after mapping."""
    xp = namespace(x)
    z = x @ w
    there = nearest(z, y)
    back = nearest(y[there], z)
    rows = xp.nonzero(back == xp.arange(z.shape[0], device=device(z)))[0]
    return rows, there[rows]


def mutual_share(problem: Problem, w: Array, rng: np.random.Generator) -> float:
    """Against all points of both clouds, for some of the source's."""
    xp = namespace(w)
    some = _some(problem.x.shape[0], rng, problem.x)
    z = problem.x @ w
    back = nearest(problem.y[nearest(z[some], problem.y)], z)
    return float(xp.mean(xp.astype(back == some, problem.x.dtype)))


def cycle_share(plan: EntropicPlan | SparsePlan) -> float:
    """Source mass whose best match, taken back by the plan's columns, is where it set out."""
    there = to_numpy(plan.matches())
    back = to_numpy(plan.transposed().matches())
    mass = to_numpy(plan.marginals()[0]) if isinstance(plan, SparsePlan) else to_numpy(plan.a)
    return float(mass[back[there] == np.arange(len(there))].sum() / mass.sum())


def split_agreement(problem: Problem, settings: Settings, w: Array, rng: np.random.Generator, rounds: int = 4) -> float:
    """Refit the map on mutual neighbours within each half of (some of) the source; how often do the two agree?"""
    xp = namespace(w)
    some = _some(problem.x.shape[0], rng, problem.x)
    if len(some) < 2:
        return 0.0
    halves = some[: len(some) // 2], some[len(some) // 2 :]
    found = []
    for half in halves:
        part, refitted = problem.x[half], w
        for _ in range(rounds):
            rows, columns = mutual_pairs(part, problem.y, refitted)
            if rows.shape[0] < 1:
                return 0.0
            refitted = settings.invariance.best_map(transpose(part[rows]) @ problem.y[columns])
        found.append(nearest(problem.x[some] @ refitted, problem.y))
    return float(xp.mean(xp.astype(found[0] == found[1], problem.x.dtype)))


def gain_over_null(problem: Problem, settings: Settings, w: Array, rng: np.random.Generator) -> float:
    """(score − null)/(1 − null), the score being that of nearest neighbours after a few refits from ``w``.

    The null's y has each principal coordinate shuffled by itself: the same covariance and the same coordinates, with no
    structure between them; it gets the same start and the same refits, so that it has had the same freedom to fit.
    """
    xp = namespace(w)
    x = problem.x[_some(problem.x.shape[0], rng, problem.x)]
    _, axes = xp.linalg.eigh(transpose(problem.y) @ problem.y)
    coordinates = to_numpy(problem.y @ axes)
    shuffled = as_like(np.stack([rng.permutation(column) for column in coordinates.T], axis=1), x) @ transpose(axes)
    null = _fit_score(x, shuffled, w, settings)
    return (_fit_score(x, problem.y, w, settings) - null) / max(1 - null, 1e-12)


def _fit_score(x: Array, y: Array, w: Array, settings: Settings, rounds: int = 6) -> float:
    """1 − squared gap over squared norms, after an alternation of nearest neighbours and best maps."""
    xp = namespace(x)
    for _ in range(rounds):
        there = nearest(x @ w, y)
        w = settings.invariance.best_map(transpose(x) @ y[there])
    z, hit = x @ w, y[nearest(x @ w, y)]
    gap = float(xp.sum((z - hit) ** 2))
    return 1 - gap / (float(xp.sum(z**2) + xp.sum(hit**2)) or 1.0)
