"""The adapter as a torch module: ``invarot.torch.Adapter``."""

from __future__ import annotations

import os
from typing import Any

from .errors import InputError, MissingExtra
from .migration import load

try:
    import torch
except ImportError as error:
    raise MissingExtra("invarot.torch", "torch") from error

__all__ = ["Adapter"]


class Adapter(torch.nn.Module):  # type: ignore[misc]
    """A linear map between two models' vectors, to put after an encoder.

    ``map`` (dx, dy) is a parameter: gradients flow through it and to it, ``requires_grad_(False)`` freezes it. The answer has
    the dtype and device of the input; each vector keeps its length. It can be a module of sentence-transformers:
    ``SentenceTransformer(modules=[*model, Adapter.load(file)])``.

    Examples
    --------
    >>> adapter = Adapter(torch.eye(2, 3))
    >>> adapter(torch.tensor([[3.0, 4.0]], dtype=torch.float64)).tolist()
    [[3.0, 4.0, 0.0]]
    """

    def __init__(self, map: Any) -> None:
        super().__init__()
        found = torch.as_tensor(map)
        if found.ndim != 2 or not found.is_floating_point():
            raise InputError(f"map: expected a table (dx, dy) of real numbers, got shape {tuple(found.shape)}")
        self.map = torch.nn.Parameter(found.detach().clone())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Adapter:
        """Load the safetensors file that ``invarot migrate`` wrote."""
        return cls(torch.from_numpy(load(path).map.copy()))

    def forward(self, vectors: Any) -> Any:
        """Map a tensor (…, dx) to (…, dy); a dict of sentence-transformers is changed at ``sentence_embedding``."""
        if isinstance(vectors, dict):
            return {**vectors, "sentence_embedding": self(vectors["sentence_embedding"])}
        if vectors.shape[-1] != self.map.shape[0]:
            raise InputError(
                f"vectors: expected {self.map.shape[0]} columns, as the adapter has, got {vectors.shape[-1]}; pass vectors of its model"
            )
        mapped = vectors @ self.map.to(dtype=vectors.dtype, device=vectors.device)
        before, after = (torch.linalg.vector_norm(one, dim=-1, keepdim=True) for one in (vectors, mapped))
        return mapped * (before / torch.where(after > 0, after, torch.ones_like(after)))
