"""Tables of vectors in array files, their words inside or beside them: npz, npy, safetensors."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from ..errors import InputError
from .vectors import Findings, Rows

Found: TypeAlias = "tuple[tuple[str, ...], np.ndarray[Any, Any]]"
BLOCK_ROWS = 4096


def collect(
    words: Sequence[Any], values: Any, dimension: int, *, limit: int | None, errors: str, findings: Findings
) -> Found:
    """Distinct words and finite float32 rows of a table that can be sliced, a block of rows at a time."""
    rows = Rows(dimension, expected=len(words), limit=limit, errors=errors, findings=findings)
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
        raise InputError(f"{findings.source}: no usable row: {'; '.join(findings.sentences()) or 'the table is empty'}")
    return rows.finish()


def read_npz(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    """The arrays ``words`` and ``vectors`` of an npz file; never unpickles."""
    if not zipfile.is_zipfile(path):
        raise InputError(f"{path}: damaged, or not an npz file: save it again with np.savez(words=…, vectors=…)")
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        if "words" not in archive or "vectors" not in archive:
            raise InputError(f"{path}: expected arrays 'words' and 'vectors', found {sorted(archive)}: rename them")
        try:
            words, values = archive["words"], archive["vectors"]
        except ValueError as error:
            raise InputError(
                f"{path}: words and vectors have to be plain arrays ({error}); pickle may run code and is not read: "
                "save the words with np.array(words, dtype=str)"
            ) from error
    if words.dtype.kind not in "US":
        raise InputError(f"{path}: 'words' has to hold strings, got {words.dtype}: save np.array(words, dtype=str)")
    check_table(path, words, values.shape, values.dtype, "'words'")
    return collect(words.tolist(), values, values.shape[1], limit=limit, errors=errors, findings=findings)


def read_npy(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    """The one array of an npy file, mapped rather than loaded, and its words from ``vocabulary`` or beside it."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise InputError(f"{path}: not a plain array of numbers ({error}): save it with np.save") from error
    words = _words_beside(path, vocabulary, errors, findings)
    check_table(path, words, values.shape, values.dtype, "the vocabulary")
    return collect(words, values, values.shape[1], limit=limit, errors=errors, findings=findings)


def read_safetensors(path: Path, limit: int | None, vocabulary: Any, errors: str, findings: Findings) -> Found:
    """The table of a safetensors file, and its words from ``vocabulary``, its metadata or beside it."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="np") as file:
            names = sorted(file.keys())
            tables = [name for name in names if len(file.get_slice(name).get_shape()) == 2]
            if "vectors" not in names and len(tables) != 1:
                raise InputError(f"{path}: expected one table or one named 'vectors', found {names}: rename it")
            words = (file.metadata() or {}).get("words") if vocabulary is None else None
            listed = _words_of_json(path, words) if words else _words_beside(path, vocabulary, errors, findings)
            values = file.get_slice("vectors" if "vectors" in names else tables[0])
            shape = tuple(values.get_shape())
            check_table(path, listed, shape, values[:0].dtype, "the vocabulary")
            return collect(listed, values, shape[1], limit=limit, errors=errors, findings=findings)
    except (SafetensorError, TypeError) as error:
        raise InputError(f"{path}: cannot be read as float16, float32 or float64 safetensors ({error})") from error


def open_stream(path: Path) -> BinaryIO:
    """The file's bytes, unpacked when it is gzip."""
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def read_lines(path: Path, errors: str, findings: Findings) -> list[str]:
    """The lines of a word list; its last line may lack its end."""
    check_file(path)
    with open_stream(path) as stream:
        lines = stream.read().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    rows = Rows(1, expected=0, limit=None, errors=errors, findings=findings)
    return [rows.decode(line.removesuffix(b"\r"), place) for place, line in enumerate(lines, 1)]


def _words_beside(path: Path, vocabulary: Any, errors: str, findings: Findings) -> list[str]:
    if vocabulary is None:
        vocabulary = path.with_suffix(".vocab")
        if not vocabulary.is_file():
            raise InputError(f"vocabulary: {path} holds no words and {vocabulary} does not exist: pass vocabulary=")
    if isinstance(vocabulary, str | os.PathLike):
        return read_lines(Path(vocabulary), errors, findings)
    return list(vocabulary)


def _words_of_json(path: Path, text: str) -> list[str]:
    try:
        words = json.loads(text)
    except json.JSONDecodeError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{path}: metadata 'words' has to be a JSON list of strings: pass vocabulary= instead")
    return words


def check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path}: expected a file, this is a directory: name the file inside it")
    if not path.exists():
        raise InputError(f"{path}: no such file: check the path")


def check_table(source: Any, words: Any, shape: tuple[int, ...], dtype: Any, holder: str) -> None:
    if len(shape) != 2 or shape[1] < 1 or dtype.kind not in "fiu":
        raise InputError(
            f"{source}: expected a table (n, d) of float16, float32, float64 or integers, got shape {shape} of {dtype}; convert it"
        )
    if np.ndim(words) != 1 or len(words) != shape[0]:
        raise InputError(
            f"{source}: expected as many words as vectors, {holder} has {len(words)} words, the table {shape[0]} rows"
        )
