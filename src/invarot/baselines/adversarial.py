"""Adversarial alignment (Conneau et al. 2018, MUSE): a map trained against a discriminator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, device, import_torch, is_torch, namespace, place, to_numpy, transpose
from ..checks import check_count, check_number, check_rng
from ..geometry.orthogonal import polar
from ..retrieval.neighbours import neighbours
from ..retrieval.pairs import mutual
from .game import Games
from .outcome import as_alignment, change, check_registered, record


@dataclass(frozen=True)
class Epoch:
    """A checkpoint, passed to ``on_epoch`` (``checkpoints`` times per epoch)."""

    number: int  # of the checkpoint
    epochs: float  # trained so far
    discriminator_loss: float
    criterion: float  # mean cosine of CSLS-best pairs of frequent words: the unsupervised model selection
    map: Array  # (dx, dy)
    rate: float
    run: int = 0  # index among the runs trained together


@dataclass
class Training:
    """The progress of one run."""

    rate: float
    best: Array
    value: float = -np.inf  # the criterion of the best checkpoint
    end_value: float = -np.inf  # of the best end of an epoch
    fell: bool = False
    history: list[Step] = field(default_factory=list)

    def note(self, w: Array, value: float, loss: float) -> bool:
        """Record a checkpoint; return whether it is the best so far."""
        self.history.append(record(len(self.history), objective=value, mode="adversarial",
                                   map_change=change(w, self.best), energy=loss))  # fmt: skip
        better = value > self.value
        if better:
            self.best, self.value = w, value
        return better

    def end_epoch(self, value: float, decay: float) -> None:
        """Decay the learning rate; halve it too from the second epoch on that ends below the best."""
        below = value < self.end_value
        self.rate *= decay * (0.5 if below and self.fell else 1.0)
        self.fell, self.end_value = self.fell or below, max(value, self.end_value)


def adversarial(x: Any, y: Any, *, rng: int | np.random.Generator = 0, **options: Any) -> Alignment:
    """Train one run; ``options`` as in :func:`adversarial_runs`."""
    return adversarial_runs([(x, y)], rngs=[rng], **options)[0]


def adversarial_runs(
    pairs: Sequence[tuple[Any, Any]],
    *,
    rngs: Sequence[int | np.random.Generator],
    epochs: int = 5,
    epoch_size: int = 1_000_000,
    batch: int = 32,
    hidden: int = 2048,
    discriminator_steps: int = 5,
    dropout: float = 0.1,
    smoothing: float = 0.1,
    rate: float = 0.1,
    rate_decay: float = 0.98,
    beta: float = 0.001,
    length: float | None = None,
    words: int = 75_000,
    criterion_words: int = 10_000,
    checkpoints: int = 1,
    refinements: int = 0,
    refine_words: int = 15_000,
    device: str | None = None,
    on_epoch: Callable[[Epoch], object] | None = None,
) -> list[Alignment]:
    """Train W against a discriminator of mapped source words and target words; keep the checkpoint with the best criterion.

    After each step of W, W ← (1 + β)W − β(WWᵀ)W pulls it to the orthogonal group. The criterion is the mean cosine of
    ``criterion_words`` frequent words and their CSLS neighbours. The rate of W, not of the discriminator, decays by
    ``rate_decay`` per epoch, and from the second epoch that ends below the best one on it is halved each time too.
    ``refinements`` rounds of mutual CSLS pairs and Procrustes follow ("+ Refine"), the best of them by the same criterion
    kept.

    Parameters
    ----------
    pairs : sequence of (x, y), arrays (n, d) and (m, d)
        Most frequent first; one pair per run, all of one d. Runs are trained together: a GPU trains ten in the time of
        two or three.
    rngs : sequence of int or Generator
        One per run. Words are drawn for all runs together, so that a run depends on the others.
    epoch_size, batch : int
        Words seen by W per epoch, and per batch.
    smoothing, rate_decay, beta : float
        As in the original's code; its paper says 0.2, 0.95 and 0.01.
    length : float, optional
        Train on rows scaled to this root mean square length. A rate of 0.1 was chosen for raw vectors, which are longer
        than 1.
    words : int
        Number of frequent words used by the discriminator.
    checkpoints : int
        Evaluations of the criterion per epoch.
    device : str, optional
        Where to train, such as ``"cuda"``; by default the device of ``x``. A GPU replays recorded rounds (a CUDA graph),
        since launches would dominate the many small steps.

    Departures: draws come from ``rngs`` (the same seeds give the same maps on one machine); the best of all checkpoints
    is kept, not only of whole epochs, if ``checkpoints`` is more than 1; no lower limit of the rate; TF32 products on a
    GPU.
    """
    torch = import_torch("adversarial alignment")
    for name, count in (("epochs", epochs), ("epoch_size", epoch_size), ("batch", batch), ("hidden", hidden),
                        ("checkpoints", checkpoints), ("rngs", len(rngs))):  # fmt: skip
        check_count(count, name)
    check_number(beta, "beta", low=0)
    placed = {(id(x), id(y)): _place_pair(x, y, device) for x, y in pairs}
    sides = [placed[id(x), id(y)] for x, y in pairs]
    clouds = _make_clouds(sides, words, length)
    where = clouds[0][0].device
    seeds = [int(check_rng(rng).integers(2**31)) for rng in rngs]
    runs = [Training(rate, as_like(np.eye(x.shape[1]), x)) for x, *_ in sides]
    rounds = max(1, epoch_size // (batch * checkpoints))
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        games = Games(clouds, seeds, batch=batch, hidden=hidden, judge_rounds=discriminator_steps, dropout=dropout,
                      smoothing=smoothing, beta=beta, rate=rate)  # fmt: skip
        torch.manual_seed(seeds[0])
        for number in range(epochs * checkpoints):
            losses = games.play(rounds, [run.rate for run in runs])
            for k, (run, (x, y, _, _), loss) in enumerate(zip(runs, sides, losses, strict=True)):
                w = as_like(to_numpy(games.maps[k]), x)
                value = criterion(x, y, w, criterion_words)
                run.note(w, value, loss)
                if on_epoch is not None:
                    on_epoch(Epoch(number, (number + 1) / checkpoints, loss, value, w, run.rate, k))
                if (number + 1) % checkpoints == 0:
                    run.end_epoch(value, rate_decay)
    for run, (x, y, _, _) in zip(runs, sides, strict=True):
        refine_run(run, x, y, refinements, refine_words, criterion_words)
    label = "adversarial + refine" if refinements else "adversarial"
    return [
        as_alignment(x, y, a, b, run.best, name=label, history=History(run.history), options={"epochs": epochs})
        for run, (x, y, a, b) in zip(runs, sides, strict=True)
    ]


def refine_run(
    run: Training, x: Array, y: Array, rounds: int, words: int = 15_000, criterion_words: int = 10_000
) -> None:
    """Repeat mutual CSLS pairs and Procrustes ``rounds`` times; the map of the best criterion is kept.

    As in MUSE, neighbours are those among all rows, and pairs of a row beyond ``words`` on either side are dropped.
    """
    xp = namespace(x)
    w = run.best
    for _ in range(rounds):
        i, j = mutual(x @ w, y)
        kept = as_like(np.flatnonzero(to_numpy((i < words) & (j < words))), x, dtype=xp.int64)
        w = polar(transpose(x[i[kept]]) @ y[j[kept]])
        run.note(w, criterion(x, y, w, criterion_words), float("nan"))


def criterion(x: Array, y: Array, w: Array, words: int = 10_000) -> float:
    """Return the mean cosine of frequent source words with their CSLS neighbours: high for a right map; needs no labels."""
    xp = namespace(x)
    z = x @ w
    queries = xp.arange(min(words, x.shape[0]), device=device(x))
    found, _ = neighbours(z, y, k=1, queries=queries)
    near, own = y[found[:, 0]], z[: queries.shape[0]]
    length = xp.sqrt(xp.sum(near**2, axis=1) * xp.sum(own**2, axis=1)) + 1e-30
    return float(xp.mean(xp.sum(near * own, axis=1) / length))


def _place_pair(x: Any, y: Any, device: str | None) -> tuple[Array, Array, Array, Array]:
    checked = check_registered(x, y)
    if device is None:
        return checked
    x, y, a, b = (place(to_numpy(side), device) for side in checked)
    return x, y, a, b


def _make_clouds(sides: Sequence[tuple[Array, ...]], words: int, length: float | None) -> list[tuple[Any, Any]]:
    """Return the training clouds as torch tensors; a cloud shared by several runs is stored once."""
    torch = import_torch("adversarial alignment")
    made: dict[int, Any] = {}
    for side in (one for pair in sides for one in pair[:2]):
        if id(side) not in made:
            where = side.device if is_torch(side) else torch.device("cpu")
            cloud = torch.as_tensor(to_numpy(side[:words]), dtype=torch.float32, device=where)
            if length is not None:
                cloud = cloud * (check_number(length, "length", low=0, open_low=True) / _rms(cloud))
            made[id(side)] = cloud
    return [(made[id(pair[0])], made[id(pair[1])]) for pair in sides]


def _rms(side: Any) -> float:
    return float((side**2).sum(1).mean()) ** 0.5 or 1.0
