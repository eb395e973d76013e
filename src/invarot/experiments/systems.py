"""The systems of the translation table, each from two clouds to the maps of both sides; some go on to a second row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import Schedule, align
from ..arrays import Array, as_like, namespace
from ..baselines import adversarial, earth_mover, gromov_wasserstein, learn_maps, softassign, wasserstein_procrustes
from ..baselines.adversarial import Progress, refine_run
from ..baselines.procrustes import procrustes_map
from ..retrieval import refine
from ..starts import signature

Maps = tuple[Array, Array]
Stage = tuple[str, Maps]  # the name of a row, and its maps
System = Callable[[Array, Array, Any, int, "Sizes"], Iterator[Stage]]
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
    exact: int  # words of exact plans, and of soft matches that are kept whole

    def frequent(self, system: str) -> int:
        """The frequent words that a system picks as such: a shuffle leaves it these, in another order."""
        return self.exact if system in ("earth mover", "softassign") else self.words

    @classmethod
    def of(cls, quick: bool, words: int, *, cuda: bool = False) -> Sizes:
        if quick:
            return cls(600, 4, 600, 2, 1600, 64, 40, 300)
        # games of the original's size are a GPU's work: the small ones a processor can play go nowhere
        game = (1_000_000, 2048) if cuda or words > 5000 else (16_000, 512)
        if words <= 5000:
            return cls(1500, 10, 2500, 5, *game, 5000, 800)
        return cls(5000, 50, 20_000, 5, *game, 5000, 1500)


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


def game_options(sizes: Sizes, words: int) -> dict[str, Any]:
    return {"epochs": sizes.epochs, "epoch_size": sizes.epoch_size, "hidden": sizes.hidden, "checkpoints": 4,
            "criterion_words": min(10_000, words)}  # fmt: skip


def _played(x: Array, y: Array, sizes: Sizes, seed: int) -> Iterator[Stage]:
    options = game_options(sizes, len(x))
    found = adversarial(x, y, rng=seed, **options)
    yield "adversarial", _one(found.map, y)
    yield refined_game(x, y, found, options)


def refined_game(x: Array, y: Array, found: Any, options: dict[str, Any]) -> Stage:
    run = Progress(0.0, found.map, value=max(found.history["objective"]))
    refine_run(run, x, y, 5, criterion_words=options["criterion_words"])
    return "adversarial + refine", _one(run.best, y)


def _batched(x: Array, y: Array, sizes: Sizes, seed: int) -> Maps:
    small = {"batch": 200, "epochs": 1, "start_size": 300, "start_iterations": 20} if sizes.batches < 100 else {}
    found = wasserstein_procrustes(x, y, iterations=sizes.batches, rng=seed, **small)
    return _one(found.map, y)


def _assigned(x: Array, y: Array, sizes: Sizes, seed: int) -> Maps:
    """From a signature: the paper's own start, the identity, means nothing between languages."""
    few_x, few_y = x[: sizes.exact], y[: sizes.exact]
    a, b = (namespace(few).full_like(few[:, 0], 1 / len(few)) for few in (few_x, few_y))
    start = signature(few_x, few_y, a, b, rng=np.random.default_rng(seed))[0]
    return _one(softassign(few_x, few_y, start=start).map, y)


def _single(name: str, work: Callable[[Array, Array, Any, int, Sizes], Maps]) -> System:
    """A system of one row."""

    def run(x: Array, y: Array, known: Any, seed: int, sizes: Sizes) -> Iterator[Stage]:
        yield name, work(x, y, known, seed, sizes)

    return run


_SINGLE: dict[str, Callable[[Array, Array, Any, int, Sizes], Maps]] = {
    "Wasserstein–Procrustes": lambda x, y, known, seed, sizes: _batched(x, y, sizes, seed),
    "Gromov–Wasserstein": lambda x, y, known, seed, sizes: _one(
        gromov_wasserstein(x[: sizes.words], y[: sizes.words], epsilon=5e-4, rng=seed).map, y
    ),
    "self-learning": lambda x, y, known, seed, sizes: _learned(x, y, sizes, seed),
    "earth mover": lambda x, y, known, seed, sizes: _one(
        earth_mover(x[: sizes.exact], y[: sizes.exact], max_iter=20, rng=seed).map, y
    ),
    "softassign": lambda x, y, known, seed, sizes: _assigned(x, y, sizes, seed),
    "l_2-InvarOT": lambda x, y, known, seed, sizes: _one(solve(x, y, sizes, 2.0, seed).map, y),
    "l_∞-InvarOT": lambda x, y, known, seed, sizes: _one(solve(x, y, sizes, math.inf, seed).map, y),
    "l_∞-InvarOT + refine": lambda x, y, known, seed, sizes: _refined(x, y, sizes, seed),
}

SYSTEMS: dict[str, System] = {
    "Procrustes": _single("Procrustes", lambda x, y, known, seed, sizes: _one(procrustes_map(x, y, known), y)),
    "adversarial": lambda x, y, known, seed, sizes: _played(x, y, sizes, seed),
    **{name: _single(name, work) for name, work in _SINGLE.items()},
}
