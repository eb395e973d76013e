"""The rule: from evidence to a verdict, a probability and a resolution. Its numbers are fitted and stored in rule.json."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from importlib.resources import files
from typing import Any

from ..tuning import SAME_ANSWER, SURE_TWINS
from ..verdict import SOUND, Evidence, Resolution, Verdict

RULE = json.loads(files(__package__).joinpath("rule.json").read_text(encoding="utf-8"))


def features(evidence: Evidence) -> dict[str, float]:
    """Return the features of the rule, bounded.

    ``near`` is the log of the squared distance to the targets over that between neighbours.
    """
    counted = {name: getattr(evidence, name) for name in ("nearer", "shape", "crowding")}
    errors = {name: _clip(math.copysign(math.log1p(abs(one)), one), -4.0, 5.0) for name, one in counted.items()}
    return {
        **errors,
        "drift": _clip(evidence.drift, -1.0, 1.5),
        "density": _clip(evidence.density, -1.0, 1.0),
        "near": _clip(math.log(max(1 - evidence.twins, 1e-4)), -4.0, 2.0),
        "better": float(min(evidence.better, 1)),
        "rivals": float(min(evidence.rivals, 1)),
    }


def is_copy(evidence: Evidence) -> bool:
    """Return whether held-out points lie on their targets, and maps fitted without them agree with the map: no contest is needed."""
    return evidence.twins >= SURE_TWINS and evidence.split >= 1 - SAME_ANSWER


def decide(evidence: Evidence, degenerate: str | None = None) -> Verdict:
    """Return the verdict on the evidence; ``degenerate`` says why these clouds cannot show that a map is right."""
    if degenerate is not None:
        return Verdict("failed", 0.0, evidence, (degenerate,))
    reasons = describe_evidence(evidence)
    weighed = features(evidence)
    odds = RULE["copy"] if is_copy(evidence) else RULE
    fine, probability = (_sigmoid(_weigh(odds[name], weighed)) for name in ("fine", "right"))
    probability = max(probability, fine)
    resolution = estimate_resolution(fine + probability, evidence.points)
    # several maps that put points on their targets: each would be called aligned without the others
    symmetric = evidence.rivals > 0 and (fine >= RULE["aligned"] or evidence.twins >= SURE_TWINS)
    if evidence.rivals:
        plural = "s" * (evidence.rivals > 1)
        looks = ": the clouds look symmetric" if symmetric else ""
        reasons.insert(0, f"{evidence.rivals} other map{plural} as good{looks}")
    if symmetric:  # at most one of several maps is right
        fine, probability = fine / (1 + evidence.rivals), probability / (1 + evidence.rivals)
    word = _choose_word(fine, probability)
    if symmetric:
        word = "doubtful"
    few = RULE["few_points"]  # the rule was not fitted on fewer points, so the fit must be clear
    if word in SOUND and evidence.points < few["below"] and evidence.twins < few["twins"]:
        word, probability = "doubtful", min(probability, 0.5)
        reasons.insert(0, f"only {evidence.points} points: many maps would fit as well")
    if evidence.better:
        reasons.insert(
            0, "another start, or a map that was not allowed, scores higher: what was asked for is not the best"
        )
        if word in SOUND:
            word, probability = "doubtful", min(probability, 0.5)
    if word == "coarse":
        reasons.insert(0, f"right to within about {resolution.estimate:.0%} of the points, not point for point")
    return Verdict(word, probability, evidence, tuple(reasons), symmetric, resolution)


def estimate_resolution(sure: float, points: int) -> Resolution:
    """Return the expected share of points nearer to an image than its true counterpart, with its interval.

    ``sure`` is the sum of the two probabilities: right point for point, and right at least coarsely.
    """
    rule = RULE["resolution"]
    low, middle, high = (
        _clip(math.exp(_interpolate(sure, rule["sure"], rule[name])) - 0.5 / max(points, 1), 0.0, most)
        for name, most in (("low", 1.0), ("middle", 0.5), ("high", 1.0))
    )
    return Resolution(middle, min(low, middle), max(high, middle))


def describe_evidence(evidence: Evidence) -> list[str]:
    """Return the evidence as sentences."""
    apart = math.sqrt(max(1 - evidence.twins, 0.0))
    return [
        f"held-out points lie {apart:.2g} times as far from a target as neighbours from each other",
        f"maps fitted without them send {evidence.split:.0%} to the same target",
    ]


def _choose_word(fine: float, probability: float) -> str:
    if fine >= RULE["aligned"]:
        return "aligned"
    if probability >= RULE["coarse"]:
        return "coarse"
    return "failed" if probability < RULE["failed"] else "doubtful"


def _weigh(part: dict[str, Any], weighed: dict[str, float]) -> float:
    return float(part["bias"]) + sum(weight * weighed[name] for name, weight in part["weights"].items())


def _interpolate(value: float, knots: list[float], heights: list[float]) -> float:
    """Return the height at ``value`` on the line through (knots, heights); knots rise, and ends are flat."""
    place = bisect_right(knots, value)
    if place in (0, len(knots)):
        return heights[max(place - 1, 0)]
    share = (value - knots[place - 1]) / (knots[place] - knots[place - 1])
    return heights[place - 1] + share * (heights[place] - heights[place - 1])


def _sigmoid(odds: float) -> float:
    return 1 / (1 + math.exp(-_clip(odds, -50.0, 50.0)))


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
