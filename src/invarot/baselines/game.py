"""The two players of adversarial alignment, and their rounds: recorded once and replayed where there is a GPU."""

from __future__ import annotations

from typing import Any

from ..arrays import import_torch

RECORDED = 10  # rounds in one recording: a launch costs less than they do
SLOPE = 0.2  # of the leaky rectifiers


class Game:
    """A map W that hides where words come from, and a discriminator (two hidden layers) that tells.

    Parameters
    ----------
    left, right : torch tensors (n, d), (m, d)
        Source and target words, float32, on one device.
    judge_rounds : int
        Steps of the discriminator before each step of the map.
    """

    def __init__(
        self, left: Any, right: Any, *, batch: int, hidden: int, judge_rounds: int, dropout: float, smoothing: float,
        beta: float,
    ) -> None:  # fmt: skip
        self.torch = torch = import_torch("adversarial alignment")
        self.left, self.right, self.batch, self.beta = left, right, batch, beta
        self.judge_rounds, self.dropout = judge_rounds, dropout
        d = left.shape[1]
        layers = [torch.nn.Linear(*shape).to(left.device) for shape in ((d, hidden), (hidden, hidden), (hidden, 1))]
        self.judge = [values for layer in layers for values in (layer.weight, layer.bias)]
        self.weight = torch.eye(d, device=left.device).requires_grad_()  # rows: x @ weight.T
        # the source is labelled one, the target zero, neither with full confidence
        labels = torch.cat([torch.full((batch,), 1 - smoothing), torch.full((batch,), smoothing)])
        self.labels = labels.to(left.device)
        self.rate = torch.zeros((), device=left.device)  # minus it, on the device: read when a recording is replayed
        self.total = torch.zeros((), device=left.device)
        self.recording: Any = None

    def play(self, rounds: int, rate: float) -> float:
        """So many steps of the map, each after those of the discriminator; the mean loss of the latter."""
        self.rate.fill_(-rate)
        self.total.zero_()
        left = rounds
        if self.left.device.type == "cuda" and rounds > 2 * RECORDED:
            if self.recording is None:
                left -= self._record()
            for _ in range(left // RECORDED):
                self.recording.replay()
            left %= RECORDED
        for _ in range(left):
            self._round()
        return float(self.total) / rounds

    def map(self) -> Any:
        """(d, d), for rows: x @ map."""
        return self.weight.detach().T.contiguous()

    def _record(self) -> int:
        """Play a few rounds on a stream of their own, as a recording asks, then record; how many were played."""
        torch = self.torch
        aside = torch.cuda.Stream(self.left.device)
        aside.wait_stream(torch.cuda.current_stream(self.left.device))
        with torch.cuda.stream(aside):
            for _ in range(3):
                self._round()
        torch.cuda.current_stream(self.left.device).wait_stream(aside)
        self.recording = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.recording):
            for _ in range(RECORDED):
                self._round()
        return 3

    def _round(self) -> None:
        torch = self.torch
        for turn in range(self.judge_rounds):
            with torch.no_grad():
                words = self._words()
            loss = self._loss(words, self.labels, learn=True)
            self._descend(loss, self.judge)
            if turn == self.judge_rounds - 1:
                self.total += loss.detach()
        self._descend(self._loss(self._words(), 1 - self.labels, learn=False), [self.weight])
        with torch.no_grad():
            w = self.weight
            w.copy_((1 + self.beta) * w - self.beta * (w @ w.T) @ w)

    def _words(self) -> Any:
        torch = self.torch
        chosen = [side[torch.randint(len(side), (self.batch,), device=side.device)] for side in (self.left, self.right)]
        return torch.cat([chosen[0] @ self.weight.T, chosen[1]])

    def _loss(self, words: Any, labels: Any, *, learn: bool) -> Any:
        """Binary cross-entropy of the discriminator's answers; words are thinned out only while it learns."""
        call = self.torch.nn.functional
        w1, b1, w2, b2, w3, b3 = self.judge
        seen = call.dropout(words, self.dropout, training=learn)
        seen = call.leaky_relu(call.linear(seen, w1, b1), SLOPE)
        seen = call.leaky_relu(call.linear(seen, w2, b2), SLOPE)
        return call.binary_cross_entropy_with_logits(call.linear(seen, w3, b3)[:, 0], labels)

    def _descend(self, loss: Any, values: list[Any]) -> None:
        slopes = self.torch.autograd.grad(loss, values)
        with self.torch.no_grad():
            for value, slope in zip(values, slopes, strict=True):
                value.addcmul_(slope, self.rate)
