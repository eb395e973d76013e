"""The verdict: evidence, rivals, rule. Once, at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from ...arrays import Array
from ..candidate import Found
from ..contest import run_contest
from ..elsewhere import find_elsewhere
from ..evidence import gather_evidence
from ..problem import Problem
from ..tuning import PER_DIMENSION, SURE_TWINS
from ..unmatched import keep_matched
from ..verdict import SOUND, Evidence, Verdict
from .degenerate import find_degenerate, find_flat
from .rule import decide, is_copy
from .symmetry import count_symmetries


def judge(problem: Problem, found: Found, rng: np.random.Generator) -> Verdict:
    """Return the verdict on the best candidate; the others are its rivals."""
    best, *rivals = (*(one.map for one in found.candidates), *found.rivals)
    matched = found.best.matched
    if matched is not None:  # judged on the points that have a counterpart
        rivals = [keep_matched(problem, one, matched)[1] for one in rivals]
        problem, best = keep_matched(problem, best, matched)
        count = min(problem.x.shape[0], problem.y.shape[0])
        if count <= PER_DIMENSION * max(best.shape):
            nothing = Evidence(split=0.0, twins=0.0, points=count)
            return decide(nothing, "too few points have a counterpart to tell")
    verdict = judge_map(problem, best, rng, rivals=rivals, better=found.better)
    return doubt(verdict) if matched is not None and rivals else verdict


def doubt(verdict: Verdict) -> Verdict:
    """Return the verdict on one of several maps of a part that the points do not tell apart: at most one of them is right."""
    if verdict.word not in SOUND:
        return verdict
    probability = min(verdict.probability, 1 / (1 + verdict.evidence.rivals))
    return replace(verdict, word="doubtful", probability=probability, symmetric=True)


def measure(problem: Problem, w: Array, rng: np.random.Generator) -> Evidence:
    """Return all evidence for a map w (dx, dy) that does not depend on other answers."""
    evidence = gather_evidence(problem, w, rng)
    return evidence if is_copy(evidence) else replace(evidence, **asdict(run_contest(problem, w, rng)))


def judge_map(
    problem: Problem, w: Array, rng: np.random.Generator, *, rivals: Sequence[Array] = (), better: int = 0
) -> Verdict:
    """Return the verdict on a map w (dx, dy), given equally good maps and the number of better ones."""
    flat = find_flat(problem)
    if flat:
        nothing = Evidence(split=0.0, twins=0.0, points=problem.x.shape[0])
        return decide(nothing, f"{' and '.join(flat)}: all points are the same, which any map fits")
    evidence = measure(problem, w, rng)
    known = list(rivals) if evidence.twins >= SURE_TWINS else find_elsewhere(problem, w, rivals)
    evidence = replace(evidence, rivals=len(known), better=better)
    degenerate = find_degenerate(problem, w, evidence)
    verdict = decide(evidence, degenerate)
    if degenerate or not (verdict or evidence.twins >= SURE_TWINS):
        return verdict
    images = count_symmetries(problem, w, [w, *known])  # mirror images of a wrong map say nothing
    return decide(replace(evidence, rivals=len(known) + images)) if images else verdict
