"""h5ad files in and out, and the two assays joined in one table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InputError, MissingExtra
from .tables import JOINT, KEY, take_joint
from .transfer import take_plan

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def import_anndata(what: str) -> Any:
    """Return the anndata module; ``what`` is named in the error if it is missing."""
    try:
        import anndata
    except ImportError as error:
        raise MissingExtra(what, "cells") from error
    return anndata


def read(path: str | os.PathLike[str]) -> Any:
    """Read an AnnData from an h5ad file.

    Examples
    --------
    >>> rna = cells.read("rna.h5ad")  # doctest: +SKIP
    """
    anndata = import_anndata("reading h5ad files")
    file = Path(path)
    if not file.is_file():
        raise InputError(
            f"path: expected an h5ad file, got {file}, which is {'a folder' if file.is_dir() else 'not there'}"
        )
    with file.open("rb") as stream:
        if stream.read(len(SIGNATURE)) != SIGNATURE:
            raise InputError(f"path: expected an h5ad (HDF5) file, got {file}, which is another kind of file")
    try:
        return anndata.read_h5ad(file)
    except Exception as error:  # h5py and anndata raise OSError, KeyError and their own for a damaged file
        raise InputError(
            f"path: expected a whole h5ad file, got {file}, which cannot be read ({str(error).splitlines()[0]}); "
            "it may be cut short: copy or write it again"
        ) from error


def write(table: Any, path: str | os.PathLike[str]) -> None:
    """Write an AnnData to an h5ad file; an existing file is replaced only when the new one is complete."""
    file = Path(path)
    if file.is_dir() or not file.parent.is_dir():
        raise InputError(f"path: expected a file in an existing directory, got {file}; create the directory first")
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        table.write_h5ad(part)
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)


def join(rna: Any, atac: Any, *, names: tuple[str, str] = ("rna", "atac")) -> Any:
    """Return one AnnData with the cells of both assays in the joint space.

    Parameters
    ----------
    rna, atac : AnnData, aligned by :func:`invarot.cells.align`
    names : (str, str)
        Of the assays, in ``obs["modality"]``.

    Returns
    -------
    AnnData
        ``obsm["X_invarot"]``; ``obsp["invarot"]``, the plan in both directions; the columns of obs that either has;
        ``uns["invarot"]``. Cell names stay, with "-rna" and "-atac" added only where both assays have the same;
        ``obs["cell"]`` always holds the name as it was.
    """
    anndata = import_anndata("joining two tables")
    import pandas

    if len(set(names)) != 2:
        raise InputError(f"names: expected two different names, got {names!r}")
    spaces = take_joint(rna, "rna"), take_joint(atac, "atac")
    there, back = take_plan(rna, atac), take_plan(atac, rna)
    parts = [
        table.obs.assign(modality=name, cell=np.asarray(table.obs_names))
        for table, name in zip((rna, atac), names, strict=True)
    ]
    obs = pandas.concat([_as_text(part) for part in parts])
    twice = obs.index.duplicated(keep=False)
    obs.index = [
        f"{cell}-{kind}" if both else cell for cell, kind, both in zip(obs.index, obs["modality"], twice, strict=True)
    ]
    return anndata.AnnData(
        obs=obs,
        obsm={JOINT: np.vstack(spaces)},
        obsp={KEY: scipy.sparse.bmat([[None, there], [back, None]], format="csr")},
        uns={KEY: {**rna.uns[KEY], "use": [str(rna.uns[KEY]["use"]), str(atac.uns[KEY]["use"])]}},
    )


def _as_text(obs: Any) -> Any:
    """Categories as text: those of two tables differ, and concat would turn them into objects that no file can hold."""
    return obs.assign(**{name: obs[name].astype(str) for name in obs if obs[name].dtype == "category"})
