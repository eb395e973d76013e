"""What is read from an AnnData: an embedding, names, labels; every check of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..checks import check_points
from ..errors import InputError

Floats = np.ndarray[Any, Any]

KEY = "invarot"  # of everything that is written
JOINT = "X_invarot"
PLAN = "invarot_plan"
MATCHED = "invarot_matched"
MAKE_ONE = (
    "make one first: sc.pp.normalize_total, sc.pp.log1p and sc.tl.pca for RNA; muon.atac.pp.tfidf and muon.atac.tl.lsi "
    "for chromatin"
)


def take_sides(rna: Any, atac: Any) -> tuple[Any, Any]:
    """Return the two tables: both given, or the two modalities of a MuData."""
    if atac is None:
        modalities = getattr(rna, "mod", None)
        if modalities is None:
            raise InputError(f"atac: expected a second AnnData, or a MuData alone, got one {type(rna).__name__}")
        if len(modalities) != 2:
            raise InputError(
                f"rna: expected a MuData with two modalities, got {len(modalities)} ({', '.join(modalities) or 'none'}); "
                'pass two AnnData: cells.align(mdata["rna"], mdata["atac"])'
            )
        rna, atac = modalities.values()
    check_anndata(rna, "rna")
    check_anndata(atac, "atac")
    if rna is atac:
        raise InputError(
            "atac: expected another table than rna, got the same object; pass rna.copy() to align it with itself"
        )
    return rna, atac


def check_anndata(table: Any, name: str) -> None:
    """Raise unless ``table`` is an AnnData with different names."""
    if not all(hasattr(table, one) for one in ("obsm", "obs_names", "uns")) or hasattr(table, "mod"):
        raise InputError(f"{name}: expected an AnnData, got {type(table).__name__}; for arrays use invarot.align(x, y)")
    names = table.obs_names
    if not names.is_unique:
        first = names[names.duplicated()][0]
        raise InputError(
            f"{name}: expected different cell names, got {first!r} more than once; call {name}.obs_names_make_unique()"
        )


def take_embedding(table: Any, key: str, name: str) -> Floats:
    """Return ``table.obsm[key]`` (or X for the key "X") as finite floats (n, d)."""
    if not isinstance(key, str):
        raise InputError(f"use: expected the name of an embedding in {name}.obsm, got {key!r}")
    there = list(table.obsm.keys())
    if key != "X" and key not in there:
        listed = f"got {', '.join(there)}; pass their names with use=" if there else f"got an empty obsm; {MAKE_ONE}"
        raise InputError(f"use: expected the key {key!r} in {name}.obsm, {listed}")
    values = table.X if key == "X" else table.obsm[key]
    where = f"{name}.{'X' if key == 'X' else f'obsm[{key!r}]'}"
    if values is None:
        raise InputError(f"{where}: expected an embedding, got none; {MAKE_ONE}")
    if hasattr(values, "tocsr"):
        raise InputError(f"{where}: expected a dense embedding, got a sparse {type(values).__name__}; {MAKE_ONE}")
    found = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    _check_cells(found, where, table)
    points = to_numpy(check_points(found, where))
    if looks_like_counts(points):
        raise InputError(
            f"{where}: expected an embedding, got counts ({points.shape[1]} columns, mostly zero); {MAKE_ONE}"
        )
    return np.asarray(points, dtype=np.float64)


def _check_cells(values: Floats, where: str, table: Any) -> None:
    """Raise an error that names the cells with NaN or inf."""
    if values.ndim != 2 or values.dtype.kind != "f":
        return
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        named = ", ".join(map(str, table.obs_names[bad[:3]])) + ("…" if len(bad) > 3 else "")
        raise InputError(
            f"{where}: expected finite numbers, got NaN or inf in {len(bad)} of {len(values)} cells ({named}); "
            "leave these cells out, or compute the embedding again"
        )


def looks_like_counts(points: Floats) -> bool:
    """Return whether all numbers are whole and not negative, and most of them zero."""
    return bool(np.all(points >= 0) and np.mean(points == 0) > 0.3 and np.all(points == np.round(points)))


def take_labels(table: Any, key: str, name: str) -> np.ndarray[Any, Any]:
    """Return ``table.obs[key]`` as strings; a missing label is ""."""
    if key not in table.obs:
        raise InputError(f"{name}: expected a column {key!r} in obs, got {', '.join(table.obs) or 'no columns'}")
    column = table.obs[key]
    return np.where(column.isna(), "", column.astype(str))


def take_joint(table: Any, name: str) -> Floats:
    """Return the joint embedding that :func:`invarot.cells.align` wrote."""
    check_anndata(table, name)
    if JOINT not in table.obsm:
        raise InputError(f"{name}: expected obsm[{JOINT!r}], got none; run cells.align(rna, atac) first")
    return np.asarray(table.obsm[JOINT])
