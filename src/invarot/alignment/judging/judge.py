"""The verdict: evidence, rivals, rule. Once, at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ..candidate import Found
from ..evidence import gather_evidence, keep_matched
from ..problem import Problem
from ..tuning import SURE_TWINS
from ..verdict import Evidence, Verdict
from .degenerate import find_degenerate
from .rule import decide
from .symmetry import count_symmetries


def judge(problem: Problem, found: Found, rng: np.random.Generator) -> Verdict:
    """Return the verdict on the best candidate; the others are its rivals."""
    best, *rivals = (one.map for one in found.candidates)
    return judge_map(problem, best, rng, rivals=rivals, better=found.better)


def judge_map(
    problem: Problem,
    w: Array,
    rng: np.random.Generator,
    *,
    rivals: Sequence[Array] = (),
    better: int = 0,
    weights_x: Array | None = None,
    weights_y: Array | None = None,
) -> Verdict:
    """Return the verdict on a map w (dx, dy), given equally good maps and the number of better ones.

    ``weights_x`` (n,) and ``weights_y`` (m,) say which points have a counterpart: the map is judged on those.
    """
    flat = problem.flat_clouds
    if flat:
        nothing = Evidence(gain=0.0, split=0.0, surplus=0.0, twins=0.0, smooth=0.0, points=problem.x.shape[0])
        return decide(nothing, f"{' and '.join(flat)}: all points are the same, which any map fits")
    known = list(rivals)
    matched = keep_matched(problem, weights_x, weights_y)
    evidence = replace(gather_evidence(matched, w, rng), rivals=len(known), better=better)
    degenerate = find_degenerate(matched, evidence)
    verdict = decide(evidence, degenerate)
    if degenerate or not (verdict or evidence.twins >= SURE_TWINS):
        return verdict
    images = count_symmetries(problem, w, [w, *known])  # mirror images of a wrong map say nothing
    return decide(replace(evidence, rivals=len(known) + images)) if images else verdict
