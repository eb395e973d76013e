"""The same three operations in plain torch, by blocks of rows: without Triton or GPU, and as a reference."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ...arrays import Tensor

_ENTRIES = 1 << 24  # entries of the n × m matrix per block


def _scores(z: Tensor, y: Tensor, v: Tensor, scale: Tensor | float) -> Iterator[tuple[slice, Tensor]]:
    step = max(1, _ENTRIES // (z.shape[0] * y.shape[1]))
    for first in range(0, z.shape[1], step):
        rows = slice(first, min(first + step, z.shape[1]))
        yield rows, scale * (z[:, rows] @ y.mT) + v[:, None, :]


def lse(z: Tensor, y: Tensor, v: Tensor, scale: Tensor | float) -> Tensor:
    """Return log Σ_j exp(scale·⟨z_i, y_j⟩ + v_j) for z (s, n, d), y (s or 1, m, d), v (s or 1, m)."""
    return torch.cat([torch.logsumexp(score, dim=-1) for _, score in _scores(z, y, v, scale)], dim=-1)


def apply(z: Tensor, y: Tensor, u: Tensor, v: Tensor, t: Tensor, scale: Tensor | float) -> Tensor:
    """Return Σ_j exp(scale·⟨z_i, y_j⟩ + u_i + v_j) t_jk."""
    return torch.cat([torch.exp(s + u[:, rows, None]) @ t for rows, s in _scores(z, y, v, scale)], dim=-2)


def best(z: Tensor, y: Tensor, v: Tensor, scale: Tensor | float) -> tuple[Tensor, Tensor]:
    """Return column and value of the largest entry of each row of scale·⟨z_i, y_j⟩ + v_j."""
    found = [torch.max(score, dim=-1) for _, score in _scores(z, y, v, scale)]
    return torch.cat([f.indices for f in found], dim=-1), torch.cat([f.values for f in found], dim=-1)
