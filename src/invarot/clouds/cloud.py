"""Points in space, with what a file keeps beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..checks import check_points
from ..errors import InputError

Floats = np.ndarray[Any, Any]

AXES = ("x", "y", "z")
NORMALS = (("nx", "ny", "nz"), ("normal_x", "normal_y", "normal_z"))


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points of a scan or the vertices of a mesh.

    Attributes
    ----------
    points : float64 array, (n, 3), finite
    normals : float64 array, (n, 3), optional
    columns : further values by name, such as intensity or red, each of shape (n,)
    source : where they came from
    """

    points: Floats
    normals: Floats | None = None
    columns: Mapping[str, Floats] = field(default_factory=dict)
    source: str = "memory"

    def __post_init__(self) -> None:
        points = np.asarray(self.points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points):
            raise InputError(
                f"{self.source}: expected points of three coordinates, shape (n, 3), got shape {points.shape}; pass columns x, y and z"
            )
        bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
        if len(bad):
            raise InputError(
                f"{self.source}: expected finite coordinates, got NaN or inf in {len(bad)} of {len(points)} points, "
                f"the first in row {bad[0]} (counted from 0); drop these points"
            )
        object.__setattr__(self, "points", points)
        if self.normals is not None:
            object.__setattr__(self, "normals", np.asarray(self.normals, dtype=np.float64))
        for name, values in {"normals": self.normals, **self.columns}.items():
            shape = points.shape if name == "normals" else points.shape[:1]
            if values is not None and values.shape != shape:
                raise InputError(
                    f"{name}: expected shape {shape}, as there are points, got {values.shape}; pass one row per point"
                )

    def __len__(self) -> int:
        return len(self.points)

    def move(self, matrix: Floats) -> Cloud:
        """Return the cloud moved by a homogeneous matrix (4, 4), q = T p; normals turn with it and keep length 1."""
        linear, offset = matrix[:3, :3], matrix[:3, 3]
        normals = self.normals
        if normals is not None:
            normals = normals @ np.linalg.inv(linear)  # row vectors: the inverse transpose, transposed
            length = np.linalg.norm(normals, axis=1, keepdims=True)
            normals = normals / np.where(length > 0, length, 1)
        return Cloud(self.points @ linear.T + offset, normals, self.columns, self.source)


def as_cloud(value: Any, name: str) -> Cloud:
    """Return a Cloud from a Cloud, a file or an (n, 3) array."""
    if isinstance(value, Cloud):
        return value
    if isinstance(value, (str, os.PathLike)):
        from .readers import read_cloud

        return read_cloud(value)
    points = to_numpy(check_points(value, name))
    if points.shape[1] != 3:
        raise InputError(f"{name}: expected three columns (x, y, z), got {points.shape[1]}; use invarot.align")
    return Cloud(points)


def clean_name(name: str) -> str:
    """Return the name of a column without blanks around it, quotes and capitals."""
    return name.strip().strip("\"'").lower()


def build_cloud(names: Sequence[str], columns: Sequence[Floats], source: str) -> Cloud:
    """Return a Cloud of named columns: x, y, z wherever they are, else the first three; normals by their names."""
    if len(columns) < 3:
        raise InputError(
            f"{source}: expected at least three columns (x, y, z), got {len(columns)}; add the missing ones"
        )
    lower = [clean_name(name) for name in names]
    by_name = dict(zip(lower, columns, strict=True))
    if not set(AXES) <= set(lower):
        lower[:3] = AXES
        by_name = dict(zip(lower, columns, strict=True))
    points = np.stack([by_name.pop(axis) for axis in AXES], axis=1).astype(np.float64)
    normals = None
    for three in NORMALS:
        if normals is None and set(three) <= set(by_name):
            normals = np.stack([by_name.pop(axis) for axis in three], axis=1).astype(np.float64)
    return Cloud(points, normals, by_name, source)
