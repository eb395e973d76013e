"""Map and discriminator of adversarial alignment, for several runs (games) at once; a GPU replays recorded rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..arrays import import_torch

RECORDED = 10  # rounds per recording: they take longer than its launch
SLOPE = 0.2  # of the leaky ReLUs


class Games:
    """Games of a map W against a discriminator (two hidden layers) of mapped source words and target words.

    Games are independent; trained together they fill a GPU that a single one leaves idle between launches. Gradients are
    explicit. What a step costs is reading the middle weights, of (hidden, hidden): the steps of a round leave them as they
    are and keep their layers and slopes beside them, whose product is what the weights have to change by; it is added once per
    round.

    Parameters
    ----------
    clouds : sequence of (left, right)
        A pair of float32 tensors (n, d), (m, d) per game, all of one device and one d.
    seeds : sequence of int
        Of each game's discriminator; words are drawn for all games together from the global generator of torch.
    judge_rounds : int
        Steps of the discriminator before each step of the map.
    rate : float
        Of the discriminators; :meth:`play` is given those of the maps.
    """

    def __init__(
        self, clouds: Sequence[tuple[Any, Any]], seeds: Sequence[int], *, batch: int, hidden: int, judge_rounds: int,
        dropout: float, smoothing: float, beta: float, rate: float,
    ) -> None:  # fmt: skip
        self.torch = torch = import_torch("adversarial alignment")
        self.device = clouds[0][0].device
        self.batch, self.judge_rounds, self.dropout, self.beta = batch, judge_rounds, dropout, beta
        self.sides = [self._pool([pair[k] for pair in clouds]) for k in (0, 1)]
        d, count = clouds[0][0].shape[1], len(clouds)
        self.judge = self._init_discriminators(seeds, ((d, hidden), (hidden, hidden), (hidden, 1)))
        self.maps = torch.eye(d, device=self.device).repeat(count, 1, 1)  # x @ map
        # label smoothing: source near 1, target near 0
        labels = torch.cat([torch.full((batch,), 1 - smoothing), torch.full((batch,), smoothing)])
        self.labels = labels[None, :, None].to(self.device)
        self.step = torch.zeros((count, 1, 1), device=self.device)  # read when a recording is replayed
        self.judge_step = -rate / (2 * batch)  # a discriminator's rate does not decay
        self.total = torch.zeros(count, device=self.device)
        # what the steps of a round leave to add to the middle weights
        steps = (count, 2 * batch * judge_rounds, hidden)
        self.seen, self.slopes = (torch.zeros(steps, device=self.device) for _ in "hs")
        self.recording: Any = None

    def play(self, rounds: int, rates: Sequence[float]) -> list[float]:
        """Train ``rounds`` steps of the maps at ``rates``, each after those of the discriminators; return their mean losses."""
        steps = self.torch.tensor(rates) / (-2 * self.batch)
        self.step.copy_(steps[:, None, None])
        self.total.zero_()
        left = rounds
        with self._fast_products():
            if self.device.type == "cuda" and rounds > 2 * RECORDED:
                if self.recording is None:
                    left -= self._record()
                for _ in range(left // RECORDED):
                    self.recording.replay()
                left %= RECORDED
            for _ in range(left):
                self._play_round()
        return [float(value) / rounds for value in self.total.cpu()]

    def _record(self) -> int:
        """Run a few rounds on a side stream, as CUDA graphs require, then record; return how many were run."""
        torch = self.torch
        aside = torch.cuda.Stream(self.device)
        aside.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(aside):
            for _ in range(3):
                self._play_round()
        torch.cuda.current_stream(self.device).wait_stream(aside)
        self.recording = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.recording):
            for _ in range(RECORDED):
                self._play_round()
        return 3

    def _play_round(self) -> None:
        torch = self.torch
        # the maps are fixed while the discriminators learn: map all their words at once
        sources, targets = (self._draw(side, self.judge_rounds * self.batch) for side in self.sides)
        shape = (self.judge_rounds, self.batch)
        words = torch.cat([(sources @ self.maps).unflatten(1, shape), targets.unflatten(1, shape)], dim=2)
        words = torch.nn.functional.dropout(words, self.dropout, training=self.dropout > 0)
        for turn in range(self.judge_rounds):
            self._train_discriminators(words[:, turn], turn)
        self.judge[2].baddbmm_(self.seen.mT, self.slopes, alpha=self.judge_step)
        self._train_maps(self._draw(self.sides[0], self.batch))

    def _train_discriminators(self, words: Any, turn: int) -> None:
        """Train each discriminator for one step on words (games, 2·batch, d), the sources first.

        Slopes are those of the cross-entropy, summed over the batch.
        """
        w1, b1, _, b2, w3, b3 = self.judge
        before = turn * words.shape[1]
        h1, h2, answers = self._discriminate(words, before)
        slope = answers.sigmoid() - self.labels
        d2 = self._backpropagate(slope * w3.mT, h2)
        d1 = self._backpropagate(self._multiply_middle(d2, before, back=True), h1)
        for weight, seen, value in ((w3, h2, slope), (w1, words, d1)):
            weight.baddbmm_(seen.mT, value, alpha=self.judge_step)
        for bias, value in ((b3, slope), (b2, d2), (b1, d1)):
            bias.add_(value.sum(1, keepdim=True), alpha=self.judge_step)
        self.seen[:, before : before + words.shape[1]] = h1
        self.slopes[:, before : before + words.shape[1]] = d2
        if turn == self.judge_rounds - 1:
            call = self.torch.nn.functional.binary_cross_entropy_with_logits
            self.total += call(answers, self.labels.expand_as(answers), reduction="none").mean((1, 2))

    def _train_maps(self, chosen: Any) -> None:
        """Train each map for one step against its discriminator with swapped labels; targets have no gradient."""
        w1, _, _, _, w3, _ = self.judge
        w = self.maps
        h1, h2, answers = self._discriminate(chosen @ w)
        slope = answers.sigmoid() - (1 - self.labels[:, : self.batch])
        d2 = self._backpropagate(slope * w3.mT, h2)
        d1 = self._backpropagate(self._multiply_middle(d2, back=True), h1)
        w.add_(self.step * (chosen.mT @ (d1 @ w1.mT)))
        w.copy_((1 + self.beta) * w - self.beta * (w @ w.mT) @ w)

    def _discriminate(self, words: Any, before: int = 0) -> tuple[Any, Any, Any]:
        """Return both hidden layers and the discriminators' logits, after ``before`` words of the round."""
        call, join = self.torch.nn.functional.leaky_relu, self.torch.baddbmm
        w1, b1, _, b2, w3, b3 = self.judge
        h1 = call(join(b1, words, w1), SLOPE)
        h2 = call(self._multiply_middle(h1, before) + b2, SLOPE)
        return h1, h2, join(b3, h2, w3)

    def _multiply_middle(self, layer: Any, before: int = 0, *, back: bool = False) -> Any:
        """Return the product of a layer with the middle weights, ``back``: with their transpose, after ``before`` words."""
        middle, left, right = self.judge[2], self.seen[:, :before], self.slopes[:, :before]
        if back:
            middle, left, right = middle.mT, right, left
        found = layer @ middle
        return found.baddbmm_(layer @ left.mT, right, alpha=self.judge_step) if before else found

    def _backpropagate(self, slope: Any, layer: Any) -> Any:
        """Backpropagate through a leaky ReLU, whose output has the sign of its input."""
        return self.torch.ops.aten.leaky_relu_backward(slope, layer, SLOPE, True)

    def _draw(self, side: tuple[Any, Any, Any], count: int) -> Any:
        """Draw random words of each game's cloud, (games, count, d)."""
        words, first, size = side
        chosen = (self.torch.rand((len(first), count), device=self.device) * size).long()
        return words[self.torch.minimum(chosen, size - 1) + first]

    def _pool(self, clouds: list[Any]) -> tuple[Any, Any, Any]:
        """Stack all words, shared clouds once; return them, and offset and number of words per game."""
        torch = self.torch
        kept = list({id(cloud): cloud for cloud in clouds}.values())
        starts = dict(zip(map(id, kept), torch.tensor([0, *map(len, kept)]).cumsum(0).tolist(), strict=False))
        first = torch.tensor([[starts[id(cloud)]] for cloud in clouds], device=self.device)
        size = torch.tensor([[len(cloud)] for cloud in clouds], device=self.device)
        return torch.cat(kept), first, size

    def _init_discriminators(self, seeds: Sequence[int], shapes: Sequence[tuple[int, int]]) -> list[Any]:
        """Return weights (games, in, out) and biases (games, 1, out), initialised as torch's linear layers."""
        torch, games = self.torch, []
        for seed in seeds:
            torch.manual_seed(seed)
            layers = [torch.nn.Linear(*shape) for shape in shapes]
            games.append([v.detach() for layer in layers for v in (layer.weight.T, layer.bias[None])])
        return [torch.stack(values).to(self.device).contiguous() for values in zip(*games, strict=True)]

    @contextmanager
    def _fast_products(self) -> Iterator[None]:
        """Use tensor cores (TF32) on a GPU: the rounding is small compared with the noise of a batch."""
        before = self.torch.get_float32_matmul_precision()
        if self.device.type == "cuda":
            self.torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            self.torch.set_float32_matmul_precision(before)
