"""Read word vectors in any common format."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import local_file, name_path, reading
from .binary import looks_binary, read_binary
from .packed import open_stream
from .tables import Found, check_table, collect, read_npy, read_npz, read_safetensors
from .text import read_text
from .vectors import Findings, Vectors


def read_vectors(
    source: Any,
    *,
    max_words: int | None = None,
    vocabulary: str | os.PathLike[str] | Sequence[str] | None = None,
    format: str | None = None,
    encoding_errors: str = "replace",
) -> Vectors:
    """Read words and their vectors; anything dropped or changed is reported in a `VectorsWarning`.

    Parameters
    ----------
    source : path or object
        A file, or "-" for standard input: word2vec, fastText or GloVe text (header or not, gzip or not), word2vec binary, ``.npz`` with ``words``
        and ``vectors``, ``.npy`` or ``.safetensors`` with a vocabulary; or a gensim ``KeyedVectors`` (anything with
        ``index_to_key`` and ``vectors``), or a `Vectors`.
    max_words : read only the first ``max_words`` words
    vocabulary : the words of an ``.npy`` or ``.safetensors`` file
        A sequence, or a file with one word per line; by default the file of the same name ending in ``.vocab``
        (safetensors: its metadata ``words``, a JSON list, comes first).
    format : ``text`` (also ``vec``, ``glove``), ``bin``, ``npz``, ``npy``, ``safetensors``; detected if None
    encoding_errors : how to decode words that are not UTF-8: ``replace``, ``ignore``, ``surrogateescape``, ``strict``

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.vec"
    >>> _ = path.write_text("2 3\\nhouse 1 0 0\\ncat 0 1 0.5\\n")
    >>> found = read_vectors(path)
    >>> found.words, found.vectors.shape
    (('house', 'cat'), (2, 3))
    """
    _check_options(max_words, format, encoding_errors)
    if not isinstance(source, str | os.PathLike):
        return _read_object(source, max_words=max_words, vocabulary=vocabulary, format=format)
    findings = Findings(name_path(source))
    with reading(findings.source), local_file(source) as path:
        kind = format or detect_format(path)
        if _READERS[kind] is not _read_text:
            findings.unit = "row"
        if vocabulary is not None and kind not in ("npy", "safetensors"):
            raise InputError(
                f"vocabulary: expected None for {findings.source}, which contains words (format {kind!r}), got a vocabulary; leave it out"
            )
        words, vectors = _READERS[kind](path, max_words, vocabulary, encoding_errors, findings)
    return Vectors(words, vectors, findings.source, findings.warn())


def detect_format(path: Path) -> str:
    """Detect the format of a file from its first bytes, then from its name."""
    with path.open("rb") as stream:
        start = stream.read(9)
    if not start:
        raise InputError(f"{path}: expected words with vectors, got an empty file; download or save it again")
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if start.startswith(b"\x93NUMPY"):
        return "npy"
    if path.suffix == ".safetensors" or (start[4:8] == bytes(4) and start[8:] == b"{"):  # a short header of JSON
        return "safetensors"
    if start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05":
        raise InputError(
            f"{path}: expected a table of vectors, got a Python pickle, which can run code and is not read; load it with the "
            "library that wrote it and pass the object (such as gensim's KeyedVectors), or export it as text"
        )
    if start.startswith(b"\xba\x16\x4f\x2f"):
        raise InputError(
            f"{path}: expected a table of vectors, got a fastText model; use the .vec file that comes with it"
        )
    with open_stream(path) as stream:
        sample = stream.read(8192)
    return "bin" if looks_binary(sample, named_binary=".bin" in path.suffixes) else "text"


def _read_text(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    with open_stream(path) as stream:
        size = None if isinstance(stream, gzip.GzipFile) else path.stat().st_size
        return read_text(stream, size=size, limit=limit, errors=errors, findings=findings)


def _read_binary(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    with open_stream(path) as stream:
        size = None if isinstance(stream, gzip.GzipFile) else path.stat().st_size
        return read_binary(stream, size=size, limit=limit, errors=errors, findings=findings)


_READERS: dict[str, Callable[[Path, int | None, Any, str, Findings], Found]] = {
    "text": _read_text,
    "vec": _read_text,
    "glove": _read_text,
    "bin": _read_binary,
    "npz": read_npz,
    "npy": read_npy,
    "safetensors": read_safetensors,
}


def _read_object(source: Any, *, max_words: int | None, vocabulary: Any, format: str | None) -> Vectors:
    if vocabulary is not None or format is not None:
        raise InputError(
            "vocabulary, format: expected None for an object, which contains its words, got a value; leave them out"
        )
    if isinstance(source, Vectors):
        return source if max_words is None else source.first(max_words)
    table = getattr(source, "wv", source)  # a full gensim model has its KeyedVectors in .wv
    words, values = getattr(table, "index_to_key", None), getattr(table, "vectors", None)
    if words is None or values is None:
        raise InputError(
            f"source: expected a path, a Vectors or an object with index_to_key and vectors, got "
            f"{type(source).__name__}; pass invarot.words.Vectors(words, array)"
        )
    name = type(table).__name__
    findings = Findings(name, unit="row")
    with reading(name):
        values = np.asarray(values)
        check_table(name, words, values.shape, values.dtype, "index_to_key")
        found = collect(words, values, values.shape[1], limit=max_words, errors="strict", findings=findings)
    return Vectors(*found, name, findings.warn(stacklevel=4))


def _check_options(max_words: int | None, format: str | None, encoding_errors: str) -> None:
    if max_words is not None and (isinstance(max_words, bool) or not isinstance(max_words, int) or max_words < 1):
        raise InputError(f"max_words: expected a positive whole number or None, got {max_words!r}")
    if format is not None and format not in _READERS:
        raise InputError(f"format: expected one of {', '.join(_READERS)} or None, got {format!r}")
    if encoding_errors not in ("replace", "ignore", "surrogateescape", "strict"):
        raise InputError(
            f"encoding_errors: expected replace, ignore, surrogateescape or strict, got {encoding_errors!r}"
        )
