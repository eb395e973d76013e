"""The options of ``align`` for rows that are cut over the ranks of a torch.distributed group, and the way to that solve."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypedDict

from ..arrays import is_dtensor
from ..errors import InputError
from .result import Alignment

if TYPE_CHECKING:
    from .options import Search


class Ranks(TypedDict, total=False):
    """What :func:`invarot.distributed.align` takes besides the options of ``align``."""

    group: Any  # torch.distributed.ProcessGroup
    cut_y: bool
    checkpoint: str | os.PathLike[str] | None


def spans_ranks(x: Any, y: Any, ranks: Ranks) -> bool:
    """Return whether rows are cut over ranks: with a group, or as DTensors."""
    for name in ranks:
        if name not in Ranks.__annotations__:
            raise TypeError(f"align() got an unexpected keyword argument {name!r}")
    if ranks.get("group") is not None or is_dtensor(x) or is_dtensor(y):
        return True
    for name, value in ranks.items():
        if value:
            raise InputError(
                f"{name}: expected together with group, got {value!r} and no group; pass the process group of the ranks, or "
                f"leave {name} out"
            )
    return False


def align_over_ranks(
    x: Any, y: Any, ranks: Ranks, *, search: Search, alone: dict[str, Any], **options: Any
) -> Alignment:
    """Align the rows of this rank with those of all others; ``alone``: options that only one device takes, if given."""
    jobs = None if search.n_jobs == 1 else search.n_jobs
    alone = {**alone, "side": search.side, "seed_weight": search.seed_weight, "n_jobs": jobs}
    for name, value in alone.items():
        if value is not None:
            raise InputError(
                f"{name}: expected to be left out where rows are cut over ranks, which are solved without it, got "
                f"{type(value).__name__}; leave {name} out, or align on one device"
            )
    from ..distributed.align import align  # imports torch, which only this path needs

    return align(x, y, ordered=search.ordered, **ranks, **options)
