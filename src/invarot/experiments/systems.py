"""The systems of the translation table, each a function from two clouds to the maps of both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import Schedule, align
from ..arrays import Array, as_like
from ..baselines import adversarial, earth_mover, gromov_wasserstein, learn_maps, wasserstein_procrustes
from ..baselines.procrustes import procrustes_map
from ..retrieval import refine

Maps = tuple[Array, Array]
System = Callable[[Array, Array, Any, int, "Sizes"], Maps]
SCHEDULE = Schedule(0.1, 0.85, 0.02, adaptive=True)


@dataclass(frozen=True)
class Sizes:
    """How much each system is given to work with; the quick ones fit a minute."""

    words: int  # frequent words of a first problem
    patience: int
    cutoff: int
    epochs: int
    epoch_size: int
    hidden: int
    batches: int
    exact: int  # words of exact plans

    @classmethod
    def of(cls, quick: bool, words: int) -> Sizes:
        if quick:
            return cls(600, 4, 600, 2, 1600, 64, 40, 300)
        if words <= 5000:
            return cls(1500, 10, 2500, 5, 16_000, 512, 400, 800)
        return cls(5000, 50, 20_000, 5, 1_000_000, 2048, 1000, 1500)


def _one(w: Array, y: Array) -> Maps:
    return w, as_like(np.eye(y.shape[1]), y)


def solve(x: Array, y: Array, sizes: Sizes, p: float, seed: int) -> Any:
    """InvarOT on the frequent words; for p = 2, which no verdict calls sure on words, one wave of starts only."""
    effort = "normal" if math.isinf(p) else "quick"
    few_x, few_y = x[: sizes.words], y[: sizes.words]
    return align(few_x, few_y, p=p, schedule=SCHEDULE, ordered=True, tol=1e-4, plan_tol=5e-3, effort=effort, rng=seed)


def _refined(x: Array, y: Array, sizes: Sizes, seed: int) -> Maps:
    found = refine(x, y, solve(x, y, sizes, math.inf, seed).map)
    return found.x_map, found.y_map


def _learned(x: Array, y: Array, sizes: Sizes, seed: int) -> Maps:
    found = learn_maps(
        x, y, cutoff=sizes.cutoff, start_words=min(4000, sizes.cutoff), patience=sizes.patience, rng=seed
    )
    return found.x_map, found.y_map


def _played(x: Array, y: Array, sizes: Sizes, seed: int, refinements: int) -> Maps:
    found = adversarial(x, y, epochs=sizes.epochs, epoch_size=sizes.epoch_size, hidden=sizes.hidden, rng=seed,
                        checkpoints=4, refinements=refinements, criterion_words=min(10_000, len(x)))  # fmt: skip
    return _one(found.map, y)


def _batched(x: Array, y: Array, sizes: Sizes, seed: int) -> Maps:
    small = {"batch": 200, "epochs": 1, "start_size": 300, "start_iterations": 20} if sizes.batches < 100 else {}
    found = wasserstein_procrustes(x, y, iterations=sizes.batches, rng=seed, **small)
    return _one(found.map, y)


SYSTEMS: dict[str, System] = {
    "Procrustes": lambda x, y, known, seed, sizes: _one(procrustes_map(x, y, known), y),
    "adversarial": lambda x, y, known, seed, sizes: _played(x, y, sizes, seed, 0),
    "adversarial + refine": lambda x, y, known, seed, sizes: _played(x, y, sizes, seed, 5),
    "Wasserstein–Procrustes": lambda x, y, known, seed, sizes: _batched(x, y, sizes, seed),
    "Gromov–Wasserstein": lambda x, y, known, seed, sizes: _one(
        gromov_wasserstein(x[: sizes.words], y[: sizes.words], epsilon=5e-4, rng=seed).map, y
    ),
    "self-learning": lambda x, y, known, seed, sizes: _learned(x, y, sizes, seed),
    "earth mover": lambda x, y, known, seed, sizes: _one(
        earth_mover(x[: sizes.exact], y[: sizes.exact], max_iter=20, rng=seed).map, y
    ),
    "l_2-InvarOT": lambda x, y, known, seed, sizes: _one(solve(x, y, sizes, 2.0, seed).map, y),
    "l_∞-InvarOT": lambda x, y, known, seed, sizes: _one(solve(x, y, sizes, math.inf, seed).map, y),
    "l_∞-InvarOT + refine": lambda x, y, known, seed, sizes: _refined(x, y, sizes, seed),
}
