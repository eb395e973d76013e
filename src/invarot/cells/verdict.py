"""Whether the chosen plan is right: how well the assays agree, by what lead, and whether halves of the cells say the same.

The generic verdict asks whether points lie on their targets. Cells of two assays never do: they correspond loosely. So the rule here
has features of its own; its numbers are fitted on simulated tissues (``benchmarks/cells_verdict.py``) and stored in rule.json.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from ..alignment.verdict import Resolution, Verdict
from .alternation import Views
from .coarse import Groups
from .graph import nearest_cells
from .rivals import OTHER_TARGETS, measure_lead
from .search import Choice, search

Floats = np.ndarray[Any, Any]
Found = tuple[Groups, Groups, list[Choice]]

RULE = json.loads(files(__package__).joinpath("rule.json").read_text(encoding="utf-8"))
LEAD_MOST = 0.1  # a larger lead says no more
SAME_TARGETS = 0.02  # of the variance: targets that differ by less are the same


@dataclass(frozen=True)
class Evidence:
    """What the rule of cells weighs.

    Attributes
    ----------
    agreement : of the assays under the chosen plan, at most 1.
    lead : by how much it agrees better than the best plan that sends cells elsewhere.
    apart : how far apart the targets lie that two disjoint halves of the cells, searched alone, and all cells give a cell;
        0: the same, 1: as far as any two cells.
    """

    agreement: float
    lead: float
    apart: float


def gather_evidence(x: Views, y: Views, a: Floats, b: Floats, found: Found, rng: np.random.Generator) -> Evidence:
    """Search two disjoint halves of the cells, of weights a (n,) and b (m,), and compare their plans with the one found."""
    left, right, choices = found
    plans = [(left, right, choices[0].plan)]
    orders = rng.permutation(len(a)), rng.permutation(len(b))
    for half in range(2):
        rows, columns = (np.sort(order[half::2]) for order in orders)
        one, other = ({name: view[some] for name, view in views.items()} for views, some in ((x, rows), (y, columns)))
        groups, others, best = search(one, other, rng=rng, a=_share(a[rows]), b=_share(b[columns]))
        plans.append((groups, others, best[0].plan))
    targets = [send_cells(x, *plan) for plan in plans]
    pairs = ((0, 1), (0, 2), (1, 2))
    apart = float(np.mean([measure_distance(targets[i], targets[j], a) for i, j in pairs]))
    return Evidence(choices[0].agreement, measure_lead(choices, right), apart)


def _share(weights: Floats) -> Floats:
    found: Floats = weights / weights.sum()
    return found


def send_cells(x: Views, left: Groups, right: Groups, plan: Floats) -> Floats:
    """Return the target (n, d) of every cell under a plan between groups: the mean of the matches of the nearest group."""
    near, _ = nearest_cells(np.hstack(list(x.values())), np.hstack(list(left.views.values())), 1)
    sums = plan @ np.hstack(list(right.views.values()))
    found: Floats = (sums / np.maximum(plan.sum(1, keepdims=True), 1e-12))[near[:, 0]]
    return found


def measure_distance(one: Floats, other: Floats, weights: Floats) -> float:
    """Return the mean squared distance of targets (n, d), over the sum of their variances: 0 if equal, 1 if unrelated."""
    spread = sum(float(weights @ ((points - weights @ points) ** 2).sum(1)) for points in (one, other))
    return float(weights @ ((one - other) ** 2).sum(1)) / (spread or 1.0)


def features(evidence: Evidence) -> dict[str, float]:
    """Return the features of the rule, bounded."""
    return {
        "agreement": evidence.agreement,
        "lead": min(max(evidence.lead, 0.0), LEAD_MOST),
        "apart": math.log(max(evidence.apart, SAME_TARGETS)),
    }


def decide(evidence: Evidence) -> tuple[str, float, Resolution]:
    """Return the word, the probability that the plan is right at least coarsely, and how finely it is right.

    Of two answers that send cells elsewhere at most one is right. So where those of the halves do, the probability is at most
    one half, however well the assays agree: separate clusters of one shape agree nearly as well when two change places.
    """
    weighed = features(evidence)
    fine, right = (1 / (1 + math.exp(-_weigh(RULE[name], weighed))) for name in ("fine", "right"))
    probability = min(max(fine, right), 0.5 if evidence.apart > OTHER_TARGETS else 1.0)
    word = "failed" if probability < RULE["failed"] else "doubtful"
    if probability >= RULE["coarse"]:
        word = "aligned" if fine >= RULE["aligned"] else "coarse"
    rule = RULE["resolution"]
    middle = min(math.exp(_weigh(rule, weighed)), 0.5)
    return (
        word,
        probability,
        Resolution(middle, middle * math.exp(rule["low"]), min(middle * math.exp(rule["high"]), 1.0)),
    )


def judge(verdict: Verdict, evidence: Evidence) -> Verdict:
    """Return the verdict with word, probability and resolution of the rule of cells, and its reasons."""
    word, probability, resolution = decide(evidence)
    reasons = [
        f"the assays agree to {evidence.agreement:.2f}",
        f"two halves of the cells, searched alone, give targets that differ by {evidence.apart:.0%} of the variance",
    ]
    if math.isfinite(evidence.lead):
        reasons.append(f"plans that send cells elsewhere agree less, by {max(evidence.lead, 0):.3f}")
    if word in ("doubtful", "failed"):
        reasons.append("check with marker genes")
    return replace(verdict, word=word, probability=probability, reasons=tuple(reasons), resolution=resolution)


def _weigh(part: dict[str, Any], weighed: dict[str, float]) -> float:
    return float(part["bias"]) + sum(weight * weighed[name] for name, weight in part["weights"].items())
