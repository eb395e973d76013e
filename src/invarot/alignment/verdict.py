"""Did it work? A label-free answer, with the evidence behind it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..transport.plan import EntropicPlan, SparsePlan
from .evidence import Evidence, gather
from .problem import Problem
from .settings import Settings

# The rule, fitted by benchmarks/calibrate_verdict.py: log-odds = BIAS + Σ weight·feature (results/verdict.md).
BIAS = -1.78
WEIGHTS = {"gain": 7.61, "twins": 1.82, "smooth": -5.21, "sure": 3.29, "few": -1.47}
WEIGHED = ("gain", "twins", "smooth", "surplus", "points")  # the evidence those features are made of
ALIGNED, FAILED = 0.85, 0.3
FEW = 25  # points: the rule was never fitted on fewer, so they must fit plainly
PLAIN = 0.9  # of the null's distance saved


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
    plan: EntropicPlan | SparsePlan | None,
    *,
    agreement: float,
    rivals: int,
    rng: np.random.Generator,
) -> Verdict:
    """The verdict on a map w (dx, dy) with its plan, or on the map alone."""
    return decide(gather(problem, settings, w, plan, agreement=agreement, rivals=rivals, rng=rng))


def features(evidence: Evidence) -> dict[str, float]:
    """What the rule weighs: √gain, twins down to −1 (below it a map is no more wrong), smooth, how sure the surplus is, few.

    A surplus of s over N points is worth s·√N: chance moves it by about 1/√N. ``few`` is what few points take from all.
    """
    root = max(evidence.points, 1) ** 0.5
    return {
        "gain": max(evidence.gain, 0.0) ** 0.5,
        "twins": max(evidence.twins, -1.0),
        "smooth": min(max(evidence.smooth, 0.0), 1.0),
        "sure": min(max(evidence.surplus * root / 10, -0.5), 1.5),
        "few": min(10 / root, 2.0),
    }


def decide(evidence: Evidence) -> Verdict:
    """The rule alone."""
    weighed = features(evidence)
    odds = BIAS + sum(weight * weighed[name] for name, weight in WEIGHTS.items())
    probability = 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))
    reasons = [
        f"held-out points lie {abs(evidence.gain):.0%} {'nearer to' if evidence.gain >= 0 else 'farther from'} a target "
        "than by chance",
        f"maps fitted without them send {evidence.split:.0%} to the same target "
        f"(chance {max(evidence.split - evidence.surplus, 0.0):.0%})",
        f"{evidence.mutual:.0%} mutual nearest neighbours",
    ]
    symmetric = evidence.rivals > 0 and probability >= FAILED  # several maps, and each would pass for right
    word = "aligned" if probability >= ALIGNED else "failed" if probability < FAILED else "doubtful"
    if symmetric:
        word, probability = "doubtful", min(probability, 1 / (1 + evidence.rivals))
        plural = "s" * (evidence.rivals > 1)
        reasons.insert(0, f"{evidence.rivals} other map{plural} as good: the clouds look symmetric")
    if word == "aligned" and evidence.points < FEW and evidence.gain < PLAIN:
        word, probability = "doubtful", 0.5
        reasons.insert(0, f"only {evidence.points} points: many maps would fit as well")
    if evidence.better and word == "aligned":
        word, probability = "doubtful", 0.5
        reasons.insert(
            0, "another start, or a map that was not allowed, scores higher: what was asked for is not the best"
        )
    return Verdict(word, probability, evidence, tuple(reasons), symmetric)
