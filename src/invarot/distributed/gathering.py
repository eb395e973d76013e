"""The parts of an alignment put together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..alignment.result import Alignment
from ..errors import InputError
from ..rows import ALL
from ..transport.plan import EntropicPlan
from .shards import Shards


def gather(result: Alignment, *, group: Any = None) -> Alignment:
    """Return the alignment of all rows, on every rank of the group, from the parts that :func:`align` returned.

    Map, offset, verdict and history are those of every part; the rows of the plan are put one after the other, and so are the
    targets where these are cut.
    """
    plan = result.plan
    if not isinstance(plan, EntropicPlan):
        raise InputError(f"result: expected a part made by invarot.distributed.align, got a {type(plan).__name__}")
    shards = Shards.of(plan.z.shape[0], group)
    whole: dict[str, Any] = {"z": shards.collect(plan.z), "a": shards.collect(plan.a), "u": shards.collect(plan.u)}
    return replace(result, plan=replace(plan, **whole, y=plan.columns.collect(plan.y), columns=ALL))
