"""Array libraries: the array-API namespace, and operations it lacks. The only module that knows torch."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any, TypeAlias, TypeGuard

import array_api_compat as compat
import numpy as np
from numpy.typing import ArrayLike

from .array_type import Array as Array
from .errors import InputError, MissingExtra

Namespace: TypeAlias = Any
Tensor: TypeAlias = Any  # a torch tensor, by code that knows it has one


def namespace(*arrays: Array) -> Namespace:
    """Return the array-API namespace that all ``arrays`` share."""
    return compat.array_namespace(*arrays)


def is_array(x: object) -> bool:
    """Return whether ``x`` is an array of a supported library."""
    return bool(compat.is_numpy_array(x) or compat.is_torch_array(x))


def is_torch(x: object) -> TypeGuard[Tensor]:
    return bool(compat.is_torch_array(x))


def is_dtensor(x: object) -> bool:
    """Return whether ``x`` is a DTensor of torch, whose rows may be on several processes; nothing is imported for that."""
    return type(x).__name__ == "DTensor" and type(x).__module__.startswith("torch.distributed")


def align_memory(x: Array) -> Array:
    """Return x at an address for whole numbers: a cluster hands over bytes at any, and products of such arrays round otherwise."""
    return x if is_torch(x) else np.require(x, requirements=["ALIGNED"])


def on_cuda(x: Array) -> bool:
    return is_torch(x) and x.device.type == "cuda"


def device(x: Array) -> Any:
    return compat.device(x)


def library(x: Array) -> str:
    """Return ``"numpy"`` or ``"torch (device)"``, for error messages."""
    return f"torch ({x.device})" if is_torch(x) else "numpy"


def to_numpy(x: Array | ArrayLike) -> np.ndarray[Any, Any]:
    """Return a NumPy copy or view of ``x``, from any device."""
    return x.detach().cpu().numpy() if is_torch(x) else np.asarray(x)


def as_like(values: Any, like: Array, dtype: Any = None) -> Array:
    """Convert ``values`` (NumPy or a list) to the library, device and (unless given) dtype of ``like``."""
    if is_array(values) and is_torch(values) == is_torch(like):
        found = values
    else:
        found = namespace(like).asarray(np.ascontiguousarray(to_numpy(values)), device=device(like))
    dtype = dtype or like.dtype
    if is_torch(like):
        return found.to(device=like.device, dtype=dtype)
    return np.asarray(found, dtype=dtype)


def keep_dtype(found: Array, points: Any) -> Array:
    """Return ``found`` in the dtype of ``points`` if that is an array of floating numbers."""
    floating = is_array(points) and namespace(points).isdtype(points.dtype, "real floating")
    return namespace(found).astype(found, points.dtype, copy=False) if floating else found


def move(x: Array, where: str) -> Array:
    """Return ``x`` as a NumPy array for ``"numpy"``, else as a tensor on the torch device ``where``."""
    if where == "numpy":
        return to_numpy(x)
    if not isinstance(where, str) or not re.fullmatch(r"cpu|(cuda|mps|xpu)(:\d+)?", where):
        raise InputError(
            f'device: expected "numpy" or a device of torch, such as "cpu" or "cuda:1", got {where!r}; use "cpu"'
        )
    torch = import_torch(f'to("{where}")')
    try:
        return torch.as_tensor(_own(x)).to(where)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"device: expected one that is there, got {where!r} ({str(error).splitlines()[0]}); use 'cpu'"
        ) from error


def place(values: np.ndarray[Any, Any], where: str) -> Array:
    """Return ``values`` as NumPy for ``"cpu"``, as a torch tensor for ``"cuda"`` or ``"cuda:1"``; ``"auto"``: CUDA if any."""
    if type(where).__module__.startswith("torch.") and "distributed" in type(where).__module__:
        raise InputError(
            f"device: expected one device, got a {type(where).__name__} of torch.distributed; call "
            "invarot.distributed.align(x, y, group=…) on every rank, with its own rows of x"
        )
    if not isinstance(where, str) or not re.fullmatch(r"auto|cpu|cuda(:\d+)?", where):
        raise InputError(f'device: expected "auto", "cpu", "cuda" or "cuda:N", got {where!r}; use "auto"')
    if where == "cpu":
        return values
    try:
        import torch
    except ImportError as error:
        if where == "auto":
            return values
        raise MissingExtra(f"device {where!r}", "torch") from error
    if where == "auto":
        return torch.from_numpy(_own(values)).cuda() if torch.cuda.is_available() else values
    if not torch.cuda.is_available():
        raise InputError(
            f'device: expected a CUDA device for {where!r}, got none from torch; use device="cpu", or install a CUDA build '
            "of torch on a machine with an NVIDIA GPU"
        )
    return torch.from_numpy(_own(values)).to(where)


def _own(values: Array) -> Array:
    """Return the values in an order and with the rights that torch can share: no negative strides, writable."""
    return values if is_torch(values) else np.require(values, requirements=["C", "W"])


def import_torch(what: str) -> Any:
    """Return the torch module; ``what`` is named in the error if it is missing."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtra(what, "torch") from error
    return torch


def tensor(values: np.ndarray[Any, Any]) -> Tensor:
    """Return ``values`` as a torch tensor on the CPU that shares its memory."""
    import torch

    return torch.from_numpy(values)


def svd(m: Array) -> tuple[Array, Array, Array]:
    """Return the thin SVD of the last two axes: ``m = u @ diag(s) @ vt``."""
    xp = namespace(m)
    u, s, vt = xp.linalg.svd(m, full_matrices=False)
    return u, s, vt


def transpose(m: Array) -> Array:
    """Swap the last two axes."""
    return namespace(m).matrix_transpose(m)


def unit_rows(x: Array, *, short: float = 0.0, safe: bool = False) -> Array:
    """Scale rows to length 1; zero rows, and those no longer than ``short`` times the longest, are unchanged.

    ``safe`` divides by the largest entry of each row first, so that no square overflows or vanishes: one more pass.
    """
    xp = namespace(x)
    if safe:
        peak = xp.max(xp.abs(x), axis=1, keepdims=True)
        x = x / xp.where(peak > 0, peak, xp.ones_like(peak))
    length = xp.sqrt(xp.sum(x * x, axis=1, keepdims=True))
    least = short * float(xp.max(length)) if short else 0.0
    return x / xp.where(length > least, length, xp.ones_like(length))


def logsumexp(z: Array, axis: int) -> Array:
    """Return log Σ exp along ``axis``; −inf where every entry is −inf."""
    xp = namespace(z)
    top = xp.max(z, axis=axis, keepdims=True)
    safe = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    with np.errstate(divide="ignore"):
        total = xp.log(xp.sum(xp.exp(z - safe), axis=axis))
    return total + xp.squeeze(safe, axis=axis)


def log(z: Array) -> Array:
    """Return the elementwise log with log 0 = −inf and no warning."""
    with np.errstate(divide="ignore"):
        return namespace(z).log(z)


def exp_in_place(z: Array) -> Array:
    if is_torch(z):
        return z.exp_()
    z = to_numpy(z)
    return np.exp(z, out=z)


def normal(rng: np.random.Generator, shape: tuple[int, ...], like: Array) -> Array:
    """Draw standard normal numbers with NumPy, so that every library and device gets the same ones."""
    return as_like(rng.standard_normal(shape), like)


def machine_epsilon(x: Array) -> float:
    return float(namespace(x).finfo(x.dtype).eps)


def view_bits(x: Array) -> Array:
    """Return the bits of floating numbers as whole ones, int64."""
    xp = namespace(x)
    found: Any = x
    whole = {2: xp.int16, 4: xp.int32, 8: xp.int64}[x.dtype.itemsize]
    return xp.astype(
        found.contiguous().view(whole) if is_torch(x) else np.ascontiguousarray(found).view(whole), xp.int64
    )


def free_device_memory(x: Tensor) -> int:
    """Return the bytes free on the CUDA device of ``x``, including torch's cache."""
    import torch

    free, _ = torch.cuda.mem_get_info(x.device)
    return int(free + torch.cuda.memory_reserved(x.device) - torch.cuda.memory_allocated(x.device))


def entries_at_once(like: Array, on_host: int) -> int:
    """Return the entries per block of scores: ``on_host`` on a CPU (cache size), 2²⁷ on CUDA (few launches)."""
    return 1 << 27 if on_cuda(like) else on_host


def has_triton() -> bool:
    """Return whether Triton is installed, which compiles kernels for the GPU."""
    return find_spec("triton") is not None


def top_values(z: Array, k: int) -> Array:
    """Return the ``k`` largest entries along the last axis, unsorted; a NumPy ``z`` is overwritten."""
    if is_torch(z):
        return z.topk(k, dim=-1, sorted=False).values
    z = to_numpy(z)
    z.partition(z.shape[-1] - k, axis=-1)
    return z[..., z.shape[-1] - k :]


def top_k(z: Array, k: int) -> tuple[Array, Array]:
    """Return the ``k`` largest entries along the last axis, largest first, and their indices."""
    if is_torch(z):
        values, indices = z.topk(k, dim=-1)
        return values, indices
    z = to_numpy(z)
    width = z.shape[-1]
    found = np.argmax(z, axis=-1)[..., None] if k == 1 else np.argpartition(z, width - k, axis=-1)[..., width - k :]
    values = np.take_along_axis(z, found, axis=-1)
    order = np.argsort(-values, axis=-1, kind="stable")
    return np.take_along_axis(values, order, axis=-1), np.take_along_axis(found, order, axis=-1)
