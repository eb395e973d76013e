"""Adversarial alignment (Conneau, Lample, Ranzato, Denoyer & Jégou 2018, MUSE): a map that a discriminator cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, import_torch, is_torch, namespace, place, to_numpy, transpose
from ..checks import check_count, check_number, check_rng
from ..geometry.orthogonal import polar
from ..retrieval.neighbours import mutual, neighbours
from .game import Game
from .outcome import as_alignment, change, check_registered, record


@dataclass(frozen=True)
class Epoch:
    """A checkpoint: told to ``on_epoch`` (at the end of an epoch, and between where ``checkpoints`` says so)."""

    number: int  # of the checkpoint
    epochs: float  # trained so far
    discriminator_loss: float
    criterion: float  # mean cosine of CSLS-best pairs of frequent words: the label-free choice of a model
    map: Array  # (dx, dy)
    rate: float


def adversarial(
    x: Any,
    y: Any,
    *,
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
    rng: int | np.random.Generator = 0,
    device: str | None = None,
    on_epoch: Callable[[Epoch], object] | None = None,
) -> Alignment:
    """Train W against a discriminator of mapped source words and target words; keep the checkpoint of best criterion.

    After each step of W, W ← (1 + β)W − β(WWᵀ)W pulls it to the orthogonal group. The criterion is the mean cosine of
    ``criterion_words`` frequent words and their CSLS neighbours; from the second epoch that ends below the best one on,
    the rate is halved each time. ``refinements`` rounds of mutual CSLS pairs and Procrustes follow ("+ Refine"), the best
    of them by the same criterion kept.

    Parameters
    ----------
    x, y : (n, d) and (m, d)
        Most frequent first.
    epoch_size, batch : int
        Words seen by W an epoch, and at a time.
    smoothing, rate_decay, beta : float
        As in the original's code; its paper says 0.2, 0.95 and 0.01.
    length : float, optional
        Train on rows scaled to this root mean square length. A rate of 0.1 was made for raw vectors, which are longer than 1.
    words : int
        The frequent words that the discriminator is shown.
    checkpoints : int
        How often an epoch the criterion is looked at.
    device : str, optional
        Where to train, such as ``"cuda"``: by default where ``x`` lies. A GPU replays recorded rounds (a CUDA graph), without
        which the many small steps would wait for their launches.

    Departures: draws come from ``rng`` (the map is the same for the same seed on one machine); the best of all checkpoints
    is kept, not of whole epochs only, where ``checkpoints`` is more than 1; no floor of the rate.
    """
    torch = import_torch("adversarial alignment")
    x, y, a, b = check_registered(x, y)
    for name, count in (("epochs", epochs), ("epoch_size", epoch_size), ("batch", batch), ("hidden", hidden),
                        ("checkpoints", checkpoints)):  # fmt: skip
        check_count(count, name)
    check_number(beta, "beta", low=0)
    if device is not None:
        x, y, a, b = (place(to_numpy(side), device) for side in (x, y, a, b))
    generator = check_rng(rng)
    where = x.device if is_torch(x) else torch.device("cpu")
    left, right = (torch.as_tensor(to_numpy(side[:words]), dtype=torch.float32, device=where) for side in (x, y))
    if length is not None:
        left, right = (
            side * (check_number(length, "length", low=0, open_low=True) / _rms(side)) for side in (left, right)
        )
    rounds = max(1, epoch_size // (batch * checkpoints))
    best, best_value, end_value, fell = as_like(np.eye(x.shape[1]), x), -np.inf, -np.inf, False
    history: list[Step] = []
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        torch.manual_seed(int(generator.integers(2**31)))
        game = Game(left, right, batch=batch, hidden=hidden, judge_rounds=discriminator_steps, dropout=dropout,
                    smoothing=smoothing, beta=beta)  # fmt: skip
        for number in range(epochs * checkpoints):
            loss = game.play(rounds, rate)
            w = as_like(to_numpy(game.map()), x)
            value = criterion(x, y, w, criterion_words)
            history.append(_step(number, value, loss, w, best))
            if on_epoch is not None:
                on_epoch(Epoch(number, (number + 1) / checkpoints, loss, value, w, rate))
            if value > best_value:
                best, best_value = w, value
            if (number + 1) % checkpoints == 0:
                below = value < end_value
                rate *= rate_decay * (0.5 if below and fell else 1.0)
                fell, end_value = fell or below, max(value, end_value)
    for number in range(refinements):
        i, j = mutual((x @ best)[:refine_words], y[:refine_words])
        w = polar(transpose(x[i]) @ y[j])
        value = criterion(x, y, w, criterion_words)
        history.append(_step(epochs * checkpoints + number, value, float("nan"), w, best))
        if value <= best_value:
            break
        best, best_value = w, value
    label = "adversarial + refine" if refinements else "adversarial"
    return as_alignment(x, y, a, b, best, name=label, history=History(history), options={"epochs": epochs})


def criterion(x: Array, y: Array, w: Array, words: int = 10_000) -> float:
    """Mean cosine of frequent source words with their CSLS neighbours: high where the map is right, and needs no labels."""
    xp = namespace(x)
    z = x @ w
    queries = xp.arange(min(words, x.shape[0]), device=getattr(x, "device", None) if is_torch(x) else None)
    found, _ = neighbours(z, y, k=1, queries=queries)
    near, own = y[found[:, 0]], z[: queries.shape[0]]
    length = xp.sqrt(xp.sum(near**2, axis=1) * xp.sum(own**2, axis=1)) + 1e-30
    return float(xp.mean(xp.sum(near * own, axis=1) / length))


def _rms(side: Any) -> float:
    return float((side**2).sum(1).mean()) ** 0.5 or 1.0


def _step(number: int, value: float, loss: float, w: Array, before: Array) -> Step:
    return record(number, objective=value, mode="adversarial", map_change=change(w, before), energy=loss)
