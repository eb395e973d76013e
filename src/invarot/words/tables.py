"""Tables of vectors in array files (npz, npy, safetensors), with words in the same file or a second one."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..errors import InputError
from ..files import local_file, reading
from .packed import open_stream, read_members
from .vectors import Findings, WordTable

Found: TypeAlias = "tuple[tuple[str, ...], np.ndarray[Any, Any]]"
BLOCK_ROWS = 4096


def collect(
    words: Sequence[Any], values: Any, dimension: int, *, limit: int | None, errors: str, findings: Findings
) -> Found:
    """Return the distinct words and finite float32 rows of a table, read by blocks of rows."""
    if not len(words):
        raise InputError(
            f"{findings.source}: expected words with vectors, got no usable row (the table is empty); check that the file is complete"
        )
    rows = WordTable(dimension, expected=len(words), limit=limit, errors=errors, findings=findings)
    start = 0
    while start < len(words) and not rows.full:
        stop = min(start + BLOCK_ROWS if limit is None else start + limit - len(rows), len(words))
        places = list(range(start + 1, stop + 1))
        texts = [
            rows.decode(word, place) if isinstance(word, bytes) else str(word)
            for place, word in zip(places, words[start:stop], strict=True)
        ]
        with np.errstate(over="ignore"):
            rows.extend(texts, np.asarray(values[start:stop]).astype(np.float32), places)
        start = stop
    if not len(rows):
        raise InputError(
            f"{findings.source}: expected words with vectors, got no usable row ({'; '.join(findings.sentences())})"
        )
    return rows.finish()


def read_npz(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    """Read the arrays ``words`` and ``vectors`` of an npz file, without unpickling."""
    if not zipfile.is_zipfile(path):
        raise InputError(
            f"{path}: expected an npz file, got a damaged or different one; save it again with np.savez(words=…, vectors=…)"
        )
    words, values = read_members(path, ("words", "vectors"))
    if words.dtype.kind not in "US":
        raise InputError(f"{path}: expected strings in 'words', got {words.dtype}; save np.array(words, dtype=str)")
    check_table(path, words, values.shape, values.dtype, "'words'")
    return collect(words.tolist(), values, values.shape[1], limit=limit, errors=errors, findings=findings)


def read_npy(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    """Read the array of an npy file, memory-mapped, and its words from ``vocabulary`` or a ``.vocab`` file."""
    try:
        values = np.lib.format.open_memmap(path, mode="r")
    except ValueError as error:
        raise InputError(
            f"{path}: expected a plain array of numbers, got another file ({error}); save it with np.save"
        ) from error
    words = _read_vocabulary(path, vocabulary, errors, findings)
    check_table(path, words, values.shape, values.dtype, "the vocabulary")
    return collect(words, values, values.shape[1], limit=limit, errors=errors, findings=findings)


def read_safetensors(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    """Read the table of a safetensors file, and its words from ``vocabulary``, its metadata or a ``.vocab`` file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="np") as file:
            names = sorted(file.keys())
            tables = [name for name in names if len(file.get_slice(name).get_shape()) == 2]
            if "vectors" not in names and len(tables) != 1:
                raise InputError(f"{path}: expected one table or one named 'vectors', got {names}; rename it")
            words = (file.metadata() or {}).get("words") if vocabulary is None else None
            listed = _parse_word_list(path, words) if words else _read_vocabulary(path, vocabulary, errors, findings)
            values = file.get_slice("vectors" if "vectors" in names else tables[0])
            shape = tuple(values.get_shape())
            check_table(path, listed, shape, values[:0].dtype, "the vocabulary")
            return collect(listed, values, shape[1], limit=limit, errors=errors, findings=findings)
    except (SafetensorError, TypeError) as error:
        raise InputError(
            f"{path}: expected safetensors of float16, float32 or float64, got a file that cannot be read ({error})"
        ) from error


def read_lines(path: Path, errors: str, findings: Findings) -> list[str]:
    """Return the lines of a word list; the last one may lack a line break."""
    with reading(path), local_file(path) as file, open_stream(file) as stream:
        lines = stream.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    rows = WordTable(1, expected=0, limit=None, errors=errors, findings=findings)
    return [rows.decode(line.removesuffix(b"\r"), place) for place, line in enumerate(lines, 1)]


def _read_vocabulary(path: Path, vocabulary: Any, errors: str, findings: Findings) -> list[str]:
    if vocabulary is None:
        vocabulary = path.with_suffix(".vocab")
        if not vocabulary.is_file():
            raise InputError(
                f"vocabulary: expected words for {path}, got none: {vocabulary} does not exist; pass vocabulary="
            )
    if isinstance(vocabulary, str | os.PathLike):
        return read_lines(Path(vocabulary), errors, findings)
    return list(vocabulary)


def _parse_word_list(path: Path, text: str) -> list[str]:
    try:
        words = json.loads(text)
    except json.JSONDecodeError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(
            f"{path}: expected a JSON list of strings in metadata 'words', got something else; pass vocabulary= instead"
        )
    return words


def check_table(source: Any, words: Any, shape: tuple[int, ...], dtype: Any, holder: str) -> None:
    if len(shape) != 2 or shape[1] < 1 or dtype.kind not in "fiu":
        raise InputError(
            f"{source}: expected a table (n, d) of float16, float32, float64 or integers, got shape {shape} of {dtype}; convert it"
        )
    if np.ndim(words) != 1 or len(words) != shape[0]:
        raise InputError(
            f"{source}: expected as many words as vectors, got {len(words)} words in {holder} and {shape[0]} rows in the table"
        )
