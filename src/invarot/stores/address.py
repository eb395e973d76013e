"""From an address to its store."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from ..checks import check_known
from ..errors import InputError
from .protocol import Store

FILES = {
    ".npy": ("files", "NpyFile"),
    ".npz": ("files", "NpzFile"),
    ".safetensors": ("files", "SafetensorsFile"),
    ".parquet": ("arrow", "ParquetFile"),
    ".arrow": ("arrow", "ArrowFile"),
    ".feather": ("arrow", "ArrowFile"),
    ".faiss": ("faiss_index", "FaissFile"),
    ".index": ("faiss_index", "FaissFile"),
}
ENGINES = {"lancedb": ("lance", "LanceTable"), "qdrant": ("qdrant", "QdrantCollection"), "chroma": ("chroma", "ChromaCollection")}  # fmt: skip
OPTIONS = {
    "ParquetFile": ("vector", "id"),
    "ArrowFile": ("vector", "id"),
    "LanceTable": ("vector", "id"),
    "QdrantCollection": ("vector",),
}


@dataclass(frozen=True)
class Place:
    """The parts of an address: ``ENGINE:WHERE#COLLECTION?OPTION=VALUE``; a file has no engine and no collection."""

    engine: str
    where: str
    collection: str
    options: dict[str, str]


def parse_address(address: str) -> Place:
    """Split an address into its parts."""
    body, _, query = address.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    engine, colon, rest = body.partition(":")
    if not colon or engine not in ENGINES:
        if len(engine) > 1 and colon and os.sep not in engine and not Path(body).suffix:
            raise InputError(
                f"store: expected a file or one of {', '.join(ENGINES)}, got {engine!r} in {address!r}; name one of these"
            )
        return Place("", body, "", options)
    where, _, collection = rest.rpartition("#")
    if not where or not collection:
        raise InputError(f"store: expected {engine}:FOLDER#COLLECTION, got {address!r}; name the collection after a #")
    if collection in (".", "..") or any(one in collection for one in "/\\\0"):  # it becomes the name of a folder
        raise InputError(f"store: expected a plain name after the #, got {collection!r}; use letters, digits, _ and -")
    return Place(engine, where, collection, options)


def same_place(one: str, other: str) -> bool:
    """Return whether two addresses name one store, however its path is written."""
    left, right = parse_address(one), parse_address(other)
    if (left.engine, left.collection) != (right.engine, right.collection):
        return False
    return left.where == right.where or os.path.realpath(left.where) == os.path.realpath(right.where)


def open_beside(address: str) -> Store:
    """Return the store beside ``address`` to which a copy is written that will take its place."""
    place = parse_address(address)
    if place.engine:
        return open_store(f"{place.engine}:{place.where}#{place.collection}-replacing")
    path = Path(place.where)
    return open_store(path.with_name(f"{path.stem}.replacing{path.suffix}"))


def open_store(address: str | os.PathLike[str]) -> Store:
    """Return the store at an address; nothing is read or created before the first call of one of its methods.

    Parameters
    ----------
    address : str or path
        A file: ``.npy``, ``.npz``, ``.safetensors``, ``.parquet``, ``.arrow``, ``.feather``, ``.faiss``, ``.index``. Or
        ``lancedb:FOLDER#TABLE``, ``qdrant:FOLDER_OR_URL#COLLECTION``, ``chroma:FOLDER_OR_URL#COLLECTION``.
        ``?vector=NAME`` chooses the column of the vectors (or Qdrant's named vector), ``&id=NAME`` the column of the ids.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> path = tempfile.mkdtemp() + "/old.npy"
    >>> np.save(path, np.eye(3))
    >>> store = open_store(path)
    >>> store.info().count, [batch.ids for batch in store.read(2)]
    (3, [[0, 1], [2]])
    """
    place = parse_address(os.fspath(address))
    if place.engine:
        module, name = ENGINES[place.engine]
    else:
        suffix = Path(place.where).suffix.lower()
        if suffix not in FILES:
            raise InputError(
                f"store: expected a file ending in {', '.join(FILES)}, or {', '.join(f'{one}:…#…' for one in ENGINES)}, "
                f"got {os.fspath(address)!r}; convert it to one of these"
            )
        module, name = FILES[suffix]
    check_known(place.options, OPTIONS.get(name, ()), os.fspath(address))
    kind: Any = getattr(import_module(f".{module}", __package__), name)
    store: Store = kind(place)
    return store
