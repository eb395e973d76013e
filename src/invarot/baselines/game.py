"""The two players of adversarial alignment, in several games at once; rounds are recorded and replayed on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..arrays import import_torch

RECORDED = 10  # rounds in one recording: a launch costs less than they do
SLOPE = 0.2  # of the leaky rectifiers


class Games:
    """In each game a map W that hides where words come from, and a discriminator (two hidden layers) that tells.

    Games know nothing of each other; played together they fill a GPU that one alone leaves waiting for launches. The
    slopes are written out, so that a weight is read and written once where it is stepped.

    Parameters
    ----------
    clouds : sequence of (left, right)
        A pair of float32 tensors (n, d), (m, d) for each game, all of one device and one d.
    seeds : sequence of int
        Of each game's discriminator; words are drawn for all games together from the global generator of torch.
    judge_rounds : int
        Steps of the discriminator before each step of the map.
    """

    def __init__(
        self, clouds: Sequence[tuple[Any, Any]], seeds: Sequence[int], *, batch: int, hidden: int, judge_rounds: int,
        dropout: float, smoothing: float, beta: float,
    ) -> None:  # fmt: skip
        self.torch = torch = import_torch("adversarial alignment")
        self.device = clouds[0][0].device
        self.batch, self.judge_rounds, self.dropout, self.beta = batch, judge_rounds, dropout, beta
        self.sides = [self._pool([pair[k] for pair in clouds]) for k in (0, 1)]
        d, count = clouds[0][0].shape[1], len(clouds)
        self.judge = self._judges(seeds, ((d, hidden), (hidden, hidden), (hidden, 1)))
        self.maps = torch.eye(d, device=self.device).repeat(count, 1, 1)  # x @ map
        # the source is labelled one, the target zero, neither with full confidence
        labels = torch.cat([torch.full((batch,), 1 - smoothing), torch.full((batch,), smoothing)])
        self.labels = labels[None, :, None].to(self.device)
        self.step = torch.zeros((count, 1, 1), device=self.device)  # read when a recording is replayed
        self.total = torch.zeros(count, device=self.device)
        self.recording: Any = None

    def play(self, rounds: int, rates: Sequence[float]) -> list[float]:
        """So many steps of the maps, each after those of the discriminators; the mean loss of these in each game."""
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
                self._round()
        return [float(value) / rounds for value in self.total.cpu()]

    def _record(self) -> int:
        """Play a few rounds on a stream of their own, as a recording asks, then record; how many were played."""
        torch = self.torch
        aside = torch.cuda.Stream(self.device)
        aside.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(aside):
            for _ in range(3):
                self._round()
        torch.cuda.current_stream(self.device).wait_stream(aside)
        self.recording = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.recording):
            for _ in range(RECORDED):
                self._round()
        return 3

    def _round(self) -> None:
        torch = self.torch
        # the maps stand still while the discriminators learn: all their words at once
        sources, targets = (self._draw(side, self.judge_rounds * self.batch) for side in self.sides)
        shape = (self.judge_rounds, self.batch)
        words = torch.cat([(sources @ self.maps).unflatten(1, shape), targets.unflatten(1, shape)], dim=2)
        words = torch.nn.functional.dropout(words, self.dropout, training=self.dropout > 0)
        for turn in range(self.judge_rounds):
            self._teach(words[:, turn], last=turn == self.judge_rounds - 1)
        self._turn(self._draw(self.sides[0], self.batch))

    def _teach(self, words: Any, *, last: bool) -> None:
        """A step of each discriminator on words (games, 2·batch, d), the sources first."""
        w1, b1, w2, b2, w3, b3 = self.judge
        h1, h2, answers = self._answers(words)
        slope = (answers.sigmoid() - self.labels) * self.step  # of the cross-entropy, times minus the rate
        d2 = self._back(slope * w3.mT, h2)
        d1 = self._back(d2 @ w2.mT, h1)
        for weight, bias, seen, value in ((w3, b3, h2, slope), (w2, b2, h1, d2), (w1, b1, words, d1)):
            weight.baddbmm_(seen.mT, value)
            bias += value.sum(1, keepdim=True)
        if last:
            call = self.torch.nn.functional.binary_cross_entropy_with_logits
            self.total += call(answers, self.labels.expand_as(answers), reduction="none").mean((1, 2))

    def _turn(self, chosen: Any) -> None:
        """A step of each map against its discriminator, told the wrong labels; targets have no part in its slope."""
        w1, _, w2, _, w3, _ = self.judge
        w = self.maps
        h1, h2, answers = self._answers(chosen @ w)
        slope = (answers.sigmoid() - (1 - self.labels[:, : self.batch])) * self.step
        d1 = self._back(self._back(slope * w3.mT, h2) @ w2.mT, h1)
        w.baddbmm_(chosen.mT, d1 @ w1.mT)
        w.copy_((1 + self.beta) * w - self.beta * (w @ w.mT) @ w)

    def _answers(self, words: Any) -> tuple[Any, Any, Any]:
        """Both hidden layers and what the discriminators say, as logits."""
        call, join = self.torch.nn.functional.leaky_relu, self.torch.baddbmm
        w1, b1, w2, b2, w3, b3 = self.judge
        h1 = call(join(b1, words, w1), SLOPE)
        h2 = call(join(b2, h1, w2), SLOPE)
        return h1, h2, join(b3, h2, w3)

    def _back(self, slope: Any, layer: Any) -> Any:
        """Through a rectifier, whose output has the sign of its input."""
        return self.torch.ops.aten.leaky_relu_backward(slope, layer, SLOPE, True)

    def _draw(self, side: tuple[Any, Any, Any], count: int) -> Any:
        """Random words of each game's cloud, (games, count, d)."""
        words, first, size = side
        chosen = (self.torch.rand((len(first), count), device=self.device) * size).long()
        return words[self.torch.minimum(chosen, size - 1) + first]

    def _pool(self, clouds: list[Any]) -> tuple[Any, Any, Any]:
        """All words under each other, a cloud of several games once; where each game's begin, and how many they are."""
        torch = self.torch
        kept = list({id(cloud): cloud for cloud in clouds}.values())
        starts = dict(zip(map(id, kept), torch.tensor([0, *map(len, kept)]).cumsum(0).tolist(), strict=False))
        first = torch.tensor([[starts[id(cloud)]] for cloud in clouds], device=self.device)
        size = torch.tensor([[len(cloud)] for cloud in clouds], device=self.device)
        return torch.cat(kept), first, size

    def _judges(self, seeds: Sequence[int], shapes: Sequence[tuple[int, int]]) -> list[Any]:
        """Weights (games, in, out) and biases (games, 1, out) as torch begins a linear layer, in turn."""
        torch, games = self.torch, []
        for seed in seeds:
            torch.manual_seed(seed)
            layers = [torch.nn.Linear(*shape) for shape in shapes]
            games.append([v.detach() for layer in layers for v in (layer.weight.T, layer.bias[None])])
        return [torch.stack(values).to(self.device).contiguous() for values in zip(*games, strict=True)]

    @contextmanager
    def _fast_products(self) -> Iterator[None]:
        """Tensor cores (TF32) on a GPU: such noise is small beside that of a batch."""
        before = self.torch.get_float32_matmul_precision()
        if self.device.type == "cuda":
            self.torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            self.torch.set_float32_matmul_precision(before)
