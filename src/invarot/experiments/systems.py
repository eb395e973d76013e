"""The systems of the translation table, each from two clouds to the maps of both sides; some give two rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import Alignment, Schedule, Search, Sinkhorn, align
from ..arrays import Array, as_like, namespace, transpose
from ..baselines import adversarial, earth_mover, gromov_wasserstein, learn_maps, softassign, wasserstein_procrustes
from ..baselines.adversarial import Training, criterion, refine_run
from ..baselines.gromov_wasserstein import AUTHORS
from ..baselines.procrustes import procrustes_map
from ..geometry.orthogonal import polar
from ..retrieval import refine
from ..starts import signature

Maps = tuple[Array, Array]
Stage = tuple[str, Maps]  # the name of a row, and its maps
SCHEDULE = Schedule(0.1, 0.85, 0.02, adaptive=True)
SOLVER = Sinkhorn(schedule=SCHEDULE, tol=1e-4, plan_tol=5e-3)


@dataclass(frozen=True)
class Sizes:
    """Problem sizes of each system; with ``quick`` they take a minute at most."""

    words: int  # frequent words of the first problem
    patience: int
    cutoff: int
    epochs: int
    epoch_size: int
    hidden: int
    batches: int
    exact: int  # words of exact plans and of dense soft matches
    rounds: int = 5  # of the refinement that all systems share

    def frequent(self, system: str) -> int:
        """Return how many frequent words a system uses: these are shuffled among themselves."""
        return self.exact if system in ("earth mover", "earth mover, annealed", "softassign") else self.words

    @classmethod
    def of(cls, quick: bool, words: int, *, cuda: bool = False) -> Sizes:
        if quick:
            return cls(600, 4, 600, 2, 1600, 64, 40, 300, 2)
        # training at the original's size needs a GPU: the small runs a CPU can do find nothing
        game = (1_000_000, 2048) if cuda or words > 5000 else (16_000, 512)
        if words <= 5000:
            return cls(1500, 10, 2500, 5, *game, 5000, 800)
        return cls(5000, 50, 20_000, 5, *game, 5000, 1500)


@dataclass(frozen=True)
class Job:
    """The input of a system."""

    x: Array
    y: Array
    known: np.ndarray[Any, Any]  # (k, 2): pairs of rows, for the supervised system
    seed: int
    sizes: Sizes

    def first(self, count: int) -> Maps:
        """Return the first ``count`` words of both sides."""
        return self.x[:count], self.y[:count]

    def one(self, w: Array) -> Maps:
        """Return maps of both sides from a map of x alone."""
        return w, as_like(np.eye(self.y.shape[1]), self.y)


def turn(maps: Maps) -> Array:
    """Return the orthogonal map of x nearest to the maps of both sides: their polar factor."""
    return polar(maps[0] @ transpose(maps[1]))


def refine_map(x: Array, y: Array, w: Array, rounds: int = 5) -> Array:
    """Return the map after the refinement that every system can be given: MUSE's, the best round by its criterion."""
    w = namespace(x).astype(w, x.dtype)
    words = min(10_000, x.shape[0])
    run = Training(0.0, w, value=criterion(x, y, w, words))
    refine_run(run, x, y, rounds, criterion_words=words)
    return run.best


def invariant(job: Job, p: float) -> Alignment:
    """Run InvarOT on the frequent words; for p = 2, which is never called aligned on words, with one wave of starts."""
    effort = "normal" if math.isinf(p) else "quick"
    x, y = job.first(job.sizes.words)
    return align(x, y, p=p, effort=effort, rng=job.seed, solver=SOLVER, search=Search(ordered=True))


def _solve_and_refine(job: Job) -> Maps:
    found = refine(job.x, job.y, invariant(job, math.inf).map)
    return found.x_map, found.y_map


def _run_self_learning(job: Job) -> Maps:
    cutoff = job.sizes.cutoff
    found = learn_maps(job.x, job.y, cutoff=cutoff, start_words=min(4000, cutoff), patience=job.sizes.patience,
                       rng=job.seed)  # fmt: skip
    return found.x_map, found.y_map


def _run_wasserstein_procrustes(job: Job) -> Maps:
    return job.one(wasserstein_procrustes(job.x, job.y, rng=job.seed, **batch_options(job.sizes)).map)


def batch_options(sizes: Sizes) -> dict[str, Any]:
    small = {"batch": 200, "epochs": 1, "start_size": 300, "start_iterations": 20} if sizes.batches < 100 else {}
    return {"iterations": sizes.batches, **small}


def _run_softassign(job: Job) -> Maps:
    """Run softassign from a signature: the paper's start, the identity, is meaningless between languages."""
    x, y = job.first(job.sizes.exact)
    a, b = (namespace(few).full_like(few[:, 0], 1 / len(few)) for few in (x, y))
    start = signature(x, y, a, b, rng=np.random.default_rng(job.seed))[0]
    return job.one(softassign(x, y, start=start).map)


def _run_adversarial(job: Job) -> Iterator[Stage]:
    options = game_options(job.sizes, len(job.x))
    found = adversarial(job.x, job.y, rng=job.seed, **options)
    yield "adversarial", job.one(found.map)
    run = Training(0.0, found.map, value=max(found.history["objective"]))
    refine_run(run, job.x, job.y, 5, criterion_words=options["criterion_words"])
    yield "adversarial + refine", job.one(run.best)


def game_options(sizes: Sizes, words: int) -> dict[str, Any]:
    return {"epochs": sizes.epochs, "epoch_size": sizes.epoch_size, "hidden": sizes.hidden, "checkpoints": 4,
            "criterion_words": min(10_000, words)}  # fmt: skip


# systems whose result has a plan, from which matches can be read
COUPLED: dict[str, Callable[[Job], Alignment]] = {
    "Gromov–Wasserstein": lambda job: gromov_wasserstein(
        *job.first(job.sizes.words), epsilon=AUTHORS, max_iter=1000, rng=job.seed
    ),
    "earth mover": lambda job: earth_mover(*job.first(job.sizes.exact), max_iter=20, rng=job.seed),
    "earth mover, annealed": lambda job: earth_mover(
        *job.first(job.sizes.exact), annealed=True, max_iter=20, rng=job.seed
    ),
    "l_2-InvarOT": lambda job: invariant(job, 2.0),
    "l_∞-InvarOT": lambda job: invariant(job, math.inf),
}


def _couple(name: str) -> Callable[[Job], Iterator[Stage]]:
    return _as_one_stage(name, lambda job: job.one(COUPLED[name](job).map))


def _as_one_stage(name: str, work: Callable[[Job], Maps]) -> Callable[[Job], Iterator[Stage]]:
    """Wrap a system that gives one row."""
    return lambda job: iter([(name, work(job))])


SYSTEMS: dict[str, Callable[[Job], Iterator[Stage]]] = {
    "Procrustes": _as_one_stage("Procrustes", lambda job: job.one(procrustes_map(job.x, job.y, job.known))),
    "adversarial": _run_adversarial,
    "Wasserstein–Procrustes": _as_one_stage("Wasserstein–Procrustes", _run_wasserstein_procrustes),
    "Gromov–Wasserstein": _couple("Gromov–Wasserstein"),
    "self-learning": _as_one_stage("self-learning", _run_self_learning),
    "earth mover": _couple("earth mover"),
    "softassign": _as_one_stage("softassign", _run_softassign),
    "l_2-InvarOT": _couple("l_2-InvarOT"),
    "l_∞-InvarOT": _couple("l_∞-InvarOT"),
    "l_∞-InvarOT + refine": _as_one_stage("l_∞-InvarOT + refine", _solve_and_refine),
}
