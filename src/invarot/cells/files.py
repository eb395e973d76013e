"""h5ad files in and out, and the two assays joined in one table."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InputError, MissingExtra
from ..files import check_file, reading, write_file
from ..words.packed import NPZ_TIMES, check_unpacked, find_most
from .tables import JOINT, KEY, take_joint
from .transfer import take_plan

ENTRY = 64  # bytes that count for a name in a group: links can make a few of them look like very many
MUDATA = b"MuData ("  # how an h5mu file begins
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
    check_file(path)
    with reading(path), open(path, "rb") as stream:
        head = stream.read(len(SIGNATURE))
        if head == MUDATA:
            raise InputError(
                f"{path}: expected an h5ad file, which holds one table, got a MuData file; in Python call "
                "cells.align(mudata.read(path)), else write each of its two modalities with write_h5ad"
            )
        if head != SIGNATURE:
            raise InputError(
                f"{path}: expected an h5ad (HDF5) file, got another kind of file; write it with write_h5ad"
            )
    with reading(path):
        check_contents(Path(path))
        return anndata.read_h5ad(path)


def check_contents(path: Path) -> None:
    """Raise unless an HDF5 file holds all of its data itself, no more of it than a file of its size may."""
    import h5py

    most, size = find_most(path, NPZ_TIMES), 0

    def visit(group: Any, above: tuple[Any, ...]) -> None:
        nonlocal size
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise InputError(
                    f"{path}: expected all data in one file, got a link to {link.filename!r}; copy the data"
                )
            found = group[name]
            size += ENTRY + (found.nbytes if isinstance(found, h5py.Dataset) else 0)
            check_unpacked(path, size, most)
            if isinstance(found, h5py.Group):
                if found in above:
                    raise InputError(f"{path}: expected a tree of groups, got {found.name!r} inside itself")
                visit(found, (*above, found))
            elif found.external or found.is_virtual:
                raise InputError(f"{path}: expected all data in one file, got {found.name!r} in another; copy the data")

    with h5py.File(path, "r") as file:
        visit(file, (file["/"],))


def write(table: Any, path: str | os.PathLike[str]) -> None:
    """Write an AnnData to an h5ad file; an existing file is replaced only when the new one is complete."""
    # HDF5 seeks while it writes, so it needs a regular file of its own, whatever ``path`` is
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "table.h5ad"
        table.write_h5ad(part)
        with part.open("rb") as made, write_file(path) as stream:
            shutil.copyfileobj(made, stream)


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
