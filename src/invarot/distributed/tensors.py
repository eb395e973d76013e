"""Points given as a DTensor: which rows of them are here, and over which ranks the others are."""

from __future__ import annotations

from typing import Any

from ..arrays import import_torch, is_dtensor
from ..errors import InputError

ADVICE = (
    "torch.distributed.tensor.distribute_tensor(…, mesh, [Shard(0)]) cuts rows, [Replicate()] gives all of them to each"
)


def take_local(value: Any, name: str) -> tuple[Any, bool]:
    """Return the rows of a DTensor that are here, and whether they are a part (``Shard(0)``) or all of them (``Replicate()``)."""
    if value.device_mesh.ndim != 1:
        raise InputError(
            f"{name}: expected a DTensor over a mesh of one dimension, got one of {value.device_mesh.ndim}; take a sub-mesh"
        )
    (placement,) = value.placements
    if not (placement.is_replicate() or placement.is_shard(0)):
        raise InputError(f"{name}: expected a DTensor of whole rows, got {placement}; {ADVICE}")
    return value.to_local(), placement.is_shard(0)


def open_tensors(x: Any, y: Any, group: Any, cut_y: bool) -> tuple[Any, Any, Any, bool]:
    """Return x, y, the group and whether y is cut, as arrays of this rank; what is no DTensor stays as it is.

    Placements are the same on every rank, so that every rank raises what is wrong with them.
    """
    group = _open_group(group)
    meshes = [value.device_mesh for value in (x, y) if is_dtensor(value)]
    if len(meshes) == 2 and meshes[0] != meshes[1]:
        raise InputError(f"x, y: expected DTensors over one mesh, got {meshes[0]} and {meshes[1]}; redistribute one")
    if is_dtensor(x):
        x, part = take_local(x, "x")
        if not part:
            raise InputError(f"x: expected a DTensor whose rows are cut over the ranks, got Replicate(); {ADVICE}")
    if is_dtensor(y):
        y, part = take_local(y, "y")
        if cut_y and not part:
            raise InputError(
                "cut_y: expected False with a DTensor that every rank has all of, got True; leave it out, or pass Shard(0)"
            )
        cut_y = part
    return x, y, meshes[0].get_group() if group is None and meshes else group, cut_y


def _open_group(group: Any) -> Any:
    """Return the process group of a mesh of one dimension; a group, or None, as it is."""
    distributed = import_torch("a solve over many ranks").distributed
    if isinstance(group, distributed.DeviceMesh) and group.ndim == 1:
        return group.get_group()
    if group is not None and not isinstance(group, distributed.ProcessGroup):
        raise InputError(
            f"group: expected a torch.distributed.ProcessGroup or a DeviceMesh of one dimension, got {group!r}; "
            "pass torch.distributed.group.WORLD for all ranks"
        )
    return group
