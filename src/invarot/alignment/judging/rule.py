"""The rule: from evidence to a verdict and a probability. Its numbers are fitted and stored in rule.json."""

from __future__ import annotations

import json
import math
from importlib.resources import files

from ..verdict import Evidence, Verdict

RULE = json.loads(files(__package__).joinpath("rule.json").read_text(encoding="utf-8"))


def features(evidence: Evidence) -> dict[str, float]:
    """Return the features of the rule: √gain, twins (at least −1), smooth, surplus in standard errors, few.

    The standard error of a surplus over N points is about 1/√N, hence s·√N. ``few`` lowers the probability for few points.
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
    """Return the verdict on the evidence."""
    weighed = features(evidence)
    odds = RULE["bias"] + sum(weight * weighed[name] for name, weight in RULE["weights"].items())
    probability = 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))
    reasons = describe(evidence)
    symmetric = (
        evidence.rivals > 0 and probability >= RULE["aligned"]
    )  # several maps, each of which would be called aligned
    if evidence.rivals:  # at most one of them is right
        probability /= 1 + evidence.rivals
        plural = "s" * (evidence.rivals > 1)
        looks = ": the clouds look symmetric" if symmetric else ""
        reasons.insert(0, f"{evidence.rivals} other map{plural} as good{looks}")
    word = "aligned" if probability >= RULE["aligned"] else "failed" if probability < RULE["failed"] else "doubtful"
    word = "doubtful" if symmetric else word
    few = RULE["few_points"]  # the rule was not fitted on fewer points, so the fit must be clear
    if word == "aligned" and evidence.points < few["below"] and evidence.gain < few["gain"]:
        word, probability = "doubtful", 0.5
        reasons.insert(0, f"only {evidence.points} points: many maps would fit as well")
    if word == "aligned" and evidence.better:
        word, probability = "doubtful", 0.5
        reasons.insert(
            0, "another start, or a map that was not allowed, scores higher: what was asked for is not the best"
        )
    return Verdict(word, probability, evidence, tuple(reasons), symmetric)


def describe(evidence: Evidence) -> list[str]:
    """Return the evidence as sentences."""
    return [
        f"held-out points lie {abs(evidence.gain):.0%} {'nearer to' if evidence.gain >= 0 else 'farther from'} a target "
        "than by chance",
        f"maps fitted without them send {evidence.split:.0%} to the same target "
        f"(chance {max(evidence.split - evidence.surplus, 0.0):.0%})",
    ]
