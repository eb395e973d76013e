"""Did it work? A label-free answer, with the evidence behind it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..transport.plan import EntropicPlan, SparsePlan
from .evidence import Evidence, gather, nearest
from .problem import Problem
from .settings import Settings

__all__ = ["ALIGNED", "FAILED", "WEIGHTS", "Evidence", "Verdict", "decide", "features", "judge", "nearest"]

# The rule, fitted by benchmarks/calibrate_verdict.py: log-odds = BIAS + Σ weight·feature (results/verdict.md).
BIAS = -9.04
WEIGHTS = {"gain": 19.34, "split": 1.36, "surplus": 7.97, "twins": 4.55, "smooth": -13.57}
ALIGNED, FAILED = 0.8, 0.3


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
    """What the rule weighs: √gain, split, surplus, twins down to −2 (below it a map is no more wrong), smooth."""
    return {
        "gain": max(evidence.gain, 0.0) ** 0.5,
        "split": evidence.split,
        "surplus": evidence.surplus,
        "twins": max(evidence.twins, -2.0),
        "smooth": evidence.smooth,
    }


def decide(evidence: Evidence) -> Verdict:
    """The rule alone."""
    weighed = features(evidence)
    odds = BIAS + sum(weight * weighed[name] for name, weight in WEIGHTS.items())
    probability = 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))
    reasons = [
        f"held-out points lie {evidence.gain:.0%} nearer to a target than by chance",
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
    return Verdict(word, probability, evidence, tuple(reasons), symmetric)
