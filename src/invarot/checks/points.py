"""Checks of arrays: points, weights, maps."""

from __future__ import annotations

import decimal
import numbers
import warnings
from typing import Any

import numpy as np

from ..arrays import Array, as_like, device, is_array, is_dtensor, is_torch, library, namespace, to_numpy
from ..errors import InputError


def check_points(value: Any, name: str, *, least: int = 2) -> Array:
    """Return a finite float32 or float64 array (n ≥ ``least``, d ≥ 1) from an array, a list or a DataFrame."""
    _check_unmasked(value, name)
    if hasattr(value, "obsm") and hasattr(value, "obs_names"):
        there = ", ".join(value.obsm.keys()) or "empty: compute an embedding first"
        raise InputError(
            f"{name}: expected an array of points, got {type(value).__name__}; pass an embedding, {name}.obsm[key] (there: "
            f"{there}), or align two assays with invarot.cells.align({name}, …)"
        )
    if hasattr(value, "tocsr") or getattr(value, "is_sparse", False):
        raise InputError(
            f"{name}: expected a dense array, got a sparse {type(value).__name__}; reduce its dimensions "
            "(a truncated SVD), or make it dense"
        )
    _check_library(value, name)
    points = value if is_array(value) else _from_python(value, name, "an array of points", "one row per point")
    if not is_torch(points) and points.dtype.kind == "O":
        points = _from_objects(to_numpy(points), name)
    points = points.detach() if is_torch(points) else np.asarray(points)  # no gradients, no subclasses
    xp = namespace(points)
    if not (xp.isdtype(points.dtype, "real floating") or xp.isdtype(points.dtype, "integral")):
        raise InputError(
            f"{name}: expected real numbers, got dtype {points.dtype}; convert with {name}.astype(float) after "
            "encoding or dropping non-numeric columns"
        )
    if points.dtype not in (xp.float32, xp.float64):
        half = str(points.dtype).endswith("float16")
        points = xp.astype(points, xp.float32 if half else xp.float64)
    if points.ndim != 2:
        advice = f"use {name}.reshape(len({name}), -1) for one row per point"
        if points.ndim < 2:
            advice = f"use {name}.reshape(-1, 1) for points of one feature, {name}.reshape(1, -1) for one point"
        raise InputError(f"{name}: expected a 2-D array, one row per point, got {points.ndim}-D; {advice}")
    n, d = points.shape
    if n < least or d < 1:
        raise InputError(
            f"{name}: expected at least {least} point{'s' * (least > 1)} (rows) of at least 1 feature, "
            f"got shape {(n, d)}; pass more"
        )
    if not bool(xp.all(xp.isfinite(points))):
        bad = np.argwhere(~np.isfinite(to_numpy(points)))
        raise InputError(
            f"{name}: expected finite numbers, got NaN or inf in {len(bad)} places, the first at "
            f"row {bad[0][0]}, column {bad[0][1]}; drop or impute them"
        )
    return points


def in_range(points: Array, dtype: Any) -> bool:
    """Return whether the fourth power of the largest number is in the range of ``dtype``: squares are multiplied later."""
    largest, low, high = _range(points, dtype)
    return largest == 0 or low < largest < high


def _range(points: Array, dtype: Any) -> tuple[float, float, float]:
    xp = namespace(points)
    info = xp.finfo(dtype)
    return float(xp.max(xp.abs(points))), float(info.smallest_normal) ** 0.25, float(info.max) ** 0.25


def check_new_points(points: Any, columns: int, like: Array, why: str) -> Array:
    """Return points to be mapped: of their own library, device and graph if they are an array, else those of ``like``."""
    found = check_points(points, "points", least=1)
    if found.shape[1] != columns:
        raise InputError(
            f"points: expected {columns} columns, as {why}, got {found.shape[1]}; pass points of the same features"
        )
    if is_torch(points):
        return as_like(points, found)  # what was checked is detached; this has its gradient
    return found if is_array(points) else as_like(found, like)


def check_range(points: Array, name: str) -> None:
    """Raise unless the fourth power of the largest number is in the range of its dtype."""
    xp = namespace(points)
    if not in_range(points, points.dtype):
        largest, low, high = _range(points, points.dtype)
        raise InputError(
            f"{name}: expected the largest number between {low:.0e} and {high:.0e} in {points.dtype}, got {largest:.0e}; "
            f"divide {name} by {largest:.0e}" + (", or pass float64" if points.dtype == xp.float32 else "")
        )


# What an array of another library is to be passed as; CuPy's stays on its device.
OTHERS = {
    "jax": "np.asarray({name}), or torch.from_dlpack({name})",
    "jaxlib": "np.asarray({name}), or torch.from_dlpack({name})",
    "cupy": "torch.from_dlpack({name}), which stays on the GPU, or {name}.get()",
    "tensorflow": "{name}.numpy()",
}


def _check_library(value: Any, name: str) -> None:
    """Raise for arrays of libraries that the solver cannot compute with, rather than copy them in silence."""
    if is_dtensor(value):
        raise InputError(
            f"{name}: expected all points on one device, got a DTensor, whose rows are on several ranks; align it with "
            f"invarot.distributed.align, or pass {name}.full_tensor()"
        )
    advice = OTHERS.get(type(value).__module__.split(".")[0])
    if advice is not None and hasattr(value, "shape"):
        raise InputError(
            f"{name}: expected a NumPy array or a torch tensor, got a {type(value).__module__.split('.')[0]} "
            f"{type(value).__name__}; pass {advice.format(name=name)}"
        )


def _from_objects(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Convert an array of Python numbers; text is not read as numbers."""
    for place, one in np.ndenumerate(array):
        if not isinstance(one, (numbers.Real, decimal.Decimal)):
            raise InputError(
                f"{name}: expected real numbers, got {type(one).__name__} {str(one)[:40]!r} at {list(place)} of an array of "
                f"objects; encode or drop what is not a number, for a DataFrame {name}.select_dtypes('number')"
            )
    return array.astype(np.float64)


def _from_python(value: Any, name: str, what: str, how: str) -> Array:
    """Convert a list, a DataFrame or anything else NumPy can read to an array of numbers."""
    if value is None or isinstance(value, (str, bytes, dict)):
        raise InputError(f"{name}: expected {what}, got {type(value).__name__}; pass {how}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            array = np.asarray(value)
    except (ValueError, TypeError, Warning) as error:
        raise InputError(
            f"{name}: expected rows of equal length, got a ragged {type(value).__name__} ({error}); pass a 2-D array"
        ) from error
    if array.dtype.kind == "O" and array.ndim:
        return _from_objects(array, name)
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"{name}: expected real numbers, got {type(value).__name__} of dtype {array.dtype}; keep the numeric "
            f"columns, for a DataFrame {name}.select_dtypes('number')"
        )
    return array.astype(np.float64) if array.dtype.kind in "ub" else array


def check_same_library(x: Array, y: Array) -> None:
    if library(x) != library(y):
        raise InputError(
            f"x and y: expected one library and device, got {library(x)} and {library(y)}; move one of them"
        )


def common_dtype(x: Array, y: Array) -> tuple[Array, Array]:
    """Return both arrays in their common dtype: float32 with float64 gives float64."""
    if x.dtype == y.dtype:
        return x, y
    xp = namespace(x, y)
    return xp.astype(x, xp.float64), xp.astype(y, xp.float64)


def _check_unmasked(value: Any, name: str) -> None:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(
            f"{name}: expected no missing values, got a masked array with masked entries; drop or impute them"
        )


def _check_real(values: np.ndarray[Any, Any], name: str) -> None:
    if values.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected real numbers, got dtype {values.dtype}; convert with {name}.astype(float)")


def check_weights(value: Any, name: str, points: Array) -> Array:
    """Return weights (n,) ≥ 0 that sum to 1, renormalised exactly; uniform if None.

    Weights so small that all such weights together are lost in rounding the sum become 0.
    """
    xp = namespace(points)
    n = points.shape[0]
    if value is None:
        return xp.full((n,), 1 / n, dtype=points.dtype, device=device(points))
    _check_unmasked(value, name)
    weights = (
        to_numpy(value) if is_array(value) else _from_python(value, name, "an array of weights", "one number per point")
    )
    _check_real(to_numpy(weights), name)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n,):
        raise InputError(
            f"{name}: expected {n} weights, one per point, got shape {weights.shape}; pass one for each row"
        )
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise InputError(
            f"{name}: expected finite weights ≥ 0, got values from {weights.min()} to {weights.max()}; "
            "set those of points to leave out to 0"
        )
    total = weights.sum()
    if total == 0:
        raise InputError(f"{name}: expected some positive weight, got all zero; leave {name}=None for uniform weights")
    if abs(total - 1) > 1e-4:
        raise InputError(
            f"{name}: expected weights that sum to 1, got a sum of {total:.6g}; pass {name} / {name}.sum()"
        )
    weights = weights / total
    weights[weights < float(xp.finfo(points.dtype).eps) / n] = 0
    return as_like(weights / weights.sum(), points)


def check_map(value: Any, name: str, dx: int, dy: int, like: Array) -> Array:
    """Return a finite map (dx, dy), or a batch (s, dx, dy) of maps, as a batch."""
    _check_unmasked(value, name)
    if not is_array(value):
        value = _from_python(value, name, "the name of a start, or a map", f"an array of shape ({dx}, {dy})")
    _check_real(to_numpy(value), name)
    if tuple(value.shape[-2:]) != (dx, dy) or value.ndim not in (2, 3) or value.shape[0] == 0:
        raise InputError(
            f"{name}: expected a map of shape ({dx}, {dy}) or a batch (s, {dx}, {dy}), got shape {tuple(value.shape)}; "
            "a map takes the columns of x to those of y"
        )
    found = as_like(value, like)
    if not bool(namespace(found).all(namespace(found).isfinite(found))):
        raise InputError(f"{name}: expected finite numbers, got NaN or inf; replace them")
    return found if found.ndim == 3 else found[None]
