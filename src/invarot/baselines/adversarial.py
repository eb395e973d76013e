"""Adversarial alignment (Conneau, Lample, Ranzato, Denoyer & Jégou 2018, MUSE): a map that a discriminator cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, import_torch, is_torch, namespace, to_numpy, transpose
from ..checks import check_count, check_number, check_rng
from ..geometry.orthogonal import polar
from ..retrieval.neighbours import mutual, neighbours
from .outcome import as_alignment, change, check_registered, record


@dataclass(frozen=True)
class Epoch:
    """What an epoch ended with: told to ``on_epoch``."""

    number: int
    discriminator_loss: float
    criterion: float  # mean cosine of CSLS-best pairs of frequent words: the label-free choice of a model
    map: Array  # (dx, dy)


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
    words: int = 75_000,
    criterion_words: int = 10_000,
    refinements: int = 0,
    refine_words: int = 15_000,
    rng: int | np.random.Generator = 0,
    on_epoch: Callable[[Epoch], object] | None = None,
) -> Alignment:
    """Train W against a discriminator of mapped source words and target words; keep the epoch of best criterion.

    After each step of W, W ← (1 + β)W − β(WWᵀ)W pulls it to the orthogonal group. The criterion is the mean cosine of
    ``criterion_words`` frequent words and their CSLS neighbours; where it falls, the rate is halved. ``refinements``
    rounds of mutual CSLS pairs and Procrustes follow ("+ Refine"), the best of them by the same criterion kept.

    Parameters
    ----------
    x, y : (n, d) and (m, d)
        Most frequent first; torch tensors on a GPU train there, anything else on the CPU.
    epoch_size, batch : int
        Words seen by W an epoch, and at a time.
    words : int
        The frequent words that the discriminator is shown.

    Departures: draws come from ``rng`` (the map is the same for the same seed on one machine); the smoothing of labels is
    that of the original's code (0.1 and 0.9); no early stop but the best epoch is kept.
    """
    torch = import_torch("adversarial alignment")
    x, y, a, b = check_registered(x, y)
    for name, count in (("epochs", epochs), ("epoch_size", epoch_size), ("batch", batch), ("hidden", hidden)):
        check_count(count, name)
    check_number(beta, "beta", low=0)
    generator = check_rng(rng)
    where = x.device if is_torch(x) else "cpu"
    left, right = (torch.as_tensor(to_numpy(side[:words]), dtype=torch.float32, device=where) for side in (x, y))
    with torch.random.fork_rng(devices=[where] if str(where).startswith("cuda") else []):
        torch.manual_seed(int(generator.integers(2**31)))
        game = _Game(torch, left, right, batch, hidden, dropout, smoothing, beta)
        best, best_value, history = as_like(np.eye(x.shape[1]), x), -np.inf, []
        for number in range(epochs):
            loss = game.play(max(1, epoch_size // batch), discriminator_steps, rate)
            w = as_like(to_numpy(game.map()), x)
            value = criterion(x, y, w, criterion_words)
            history.append(_step(number, value, loss, w, best))
            if on_epoch is not None:
                on_epoch(Epoch(number, loss, value, w))
            rate = rate * rate_decay * (0.5 if value < best_value and number > 1 else 1.0)
            if value > best_value:
                best, best_value = w, value
    for number in range(refinements):
        i, j = mutual((x @ best)[:refine_words], y[:refine_words])
        w = polar(transpose(x[i]) @ y[j])
        value = criterion(x, y, w, criterion_words)
        history.append(_step(epochs + number, value, float("nan"), w, best))
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


class _Game:
    """The two players and their batches."""

    def __init__(
        self, torch: Any, left: Any, right: Any, batch: int, hidden: int, dropout: float, smoothing: float, beta: float
    ) -> None:
        self.torch, self.left, self.right, self.batch, self.beta = torch, left, right, batch, beta
        d, nn = left.shape[1], torch.nn
        self.mapping = nn.Linear(d, d, bias=False).to(left.device)
        nn.init.eye_(self.mapping.weight)
        layers = [nn.Dropout(dropout), nn.Linear(d, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, hidden)]
        self.judge = nn.Sequential(*layers, nn.LeakyReLU(0.2), nn.Linear(hidden, 1), nn.Sigmoid()).to(left.device)
        # the source is labelled one, the target zero, neither with full confidence
        labels = torch.cat([torch.full((batch,), 1 - smoothing), torch.full((batch,), smoothing)])
        self.labels = labels.to(left.device)
        self.loss = nn.BCELoss()
        self.judge_step = torch.optim.SGD(self.judge.parameters(), lr=0.1)
        self.map_step = torch.optim.SGD(self.mapping.parameters(), lr=0.1)

    def play(self, rounds: int, judge_rounds: int, rate: float) -> float:
        """So many steps of the map, each after ``judge_rounds`` of the discriminator; the mean loss of the latter."""
        for optimiser in (self.judge_step, self.map_step):
            optimiser.param_groups[0]["lr"] = rate
        total = 0.0
        for _ in range(rounds):
            self.judge.train()
            for _ in range(judge_rounds):
                loss = self.loss(self.judge(self._words(learn=False))[:, 0], self.labels)
                self._descend(self.judge_step, loss)
            total += float(loss.detach())
            self.judge.eval()
            loss = self.loss(self.judge(self._words(learn=True))[:, 0], 1 - self.labels)
            self._descend(self.map_step, loss)
            self._to_orthogonal()
        return total / rounds

    def map(self) -> Any:
        """(d, d), for rows: x @ map."""
        return self.mapping.weight.detach().T.contiguous()

    def _words(self, *, learn: bool) -> Any:
        torch = self.torch
        chosen = [side[torch.randint(len(side), (self.batch,), device=side.device)] for side in (self.left, self.right)]
        with torch.set_grad_enabled(learn):
            mapped = self.mapping(chosen[0])
        return torch.cat([mapped, chosen[1]])

    def _descend(self, optimiser: Any, loss: Any) -> None:
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def _to_orthogonal(self) -> None:
        w = self.mapping.weight.data
        w.copy_((1 + self.beta) * w - self.beta * (w @ w.T) @ w)


def _step(number: int, value: float, loss: float, w: Array, before: Array) -> Step:
    return record(number, objective=value, mode="adversarial", map_change=change(w, before), energy=loss)
