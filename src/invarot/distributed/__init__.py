"""One solve over many processes: the rows of x cut over the ranks of a torch.distributed group, y on each of them or cut too.

``align`` takes the rows of this rank and returns the alignment with their part of the plan; ``gather`` puts the parts together.
"""

from __future__ import annotations

from .align import align
from .gathering import gather
from .shards import Shards

__all__ = ["Shards", "align", "gather"]
