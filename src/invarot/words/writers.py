"""Write word vectors, atomically."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..arrays import Array, is_array, to_numpy
from ..errors import InputError
from ..files import check_target, find_descriptor, write_file

SUFFIXES = {
    ".vec": "vec",
    ".txt": "vec",
    ".npz": "npz",
    ".npy": "npy",
    ".bin": "bin",
    ".safetensors": "safetensors",
}


def write_vectors(
    path: str | os.PathLike[str],
    words: Sequence[str],
    vectors: Array,
    *,
    format: str | None = None,
    digits: int = 9,
    overwrite: bool = True,
) -> Path:
    """Write words and their vectors, as float32; return the path written.

    Parameters
    ----------
    path : the file, or "-" for standard output; the suffix ``.gz`` compresses text formats
    words : n different strings
    vectors : (n, d)
    format : from the suffix of the file if None
        ``vec`` (text with the header of word2vec and fastText), ``glove`` (the same without header), ``bin`` (word2vec
        binary), ``npz`` (words, vectors), ``npy`` (words in a second file, ``.vocab``), ``safetensors`` (words in metadata)
    digits : significant digits in text; 9 restore every float32 exactly
    overwrite : whether an existing file may be replaced
    """
    path = Path(path)
    packed = path.suffix == ".gz"
    kind = format or SUFFIXES.get((path.with_suffix("") if packed else path).suffix)
    if kind not in _WRITERS:
        raise InputError(f"format: expected one of {', '.join(_WRITERS)}, got {format!r} for {path.name}; pass format=")
    if packed and kind not in ("vec", "glove"):
        raise InputError(f"path: expected no gzip for {kind} files, got {path.name}; drop the .gz")
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= 17:
        raise InputError(f"digits: expected a whole number from 1 to 17, got {digits!r}")
    table = _check_table(words, vectors)
    _check_words(words, kind)
    check_target(path, overwrite=overwrite)
    if kind == "npy":
        if find_descriptor(path, 1) is not None:
            raise InputError(f"path: expected a file for npy, whose words go to a second one, got {path}; use npz")
        with write_file(path.with_suffix(".vocab"), overwrite=overwrite) as stream:
            stream.writelines(encode_word(word) + b"\n" for word in words)
    with write_file(path, overwrite=overwrite) as stream:
        if packed:
            with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as zipped:
                _WRITERS[kind](zipped, words, table, digits)  # type: ignore[arg-type]
        else:
            _WRITERS[kind](stream, words, table, digits)
    return path


def encode_word(word: str) -> bytes:
    """Return the bytes of a word: the inverse of reading with ``surrogateescape``."""
    return word.encode("utf-8", "surrogateescape")


def _write_glove(stream: BinaryIO, words: Sequence[str], table: np.ndarray[Any, Any], digits: int) -> None:
    pattern = " ".join([f"%.{digits}g"] * table.shape[1])
    for word, row in zip(words, table, strict=True):
        stream.write(b"%b %b\n" % (encode_word(word), (pattern % tuple(row.tolist())).encode("ascii")))


def _write_vec(stream: BinaryIO, words: Sequence[str], table: np.ndarray[Any, Any], digits: int) -> None:
    stream.write(b"%d %d\n" % table.shape)
    _write_glove(stream, words, table, digits)


def _write_bin(stream: BinaryIO, words: Sequence[str], table: np.ndarray[Any, Any], digits: int) -> None:
    stream.write(b"%d %d\n" % table.shape)
    for word, row in zip(words, table.astype("<f4"), strict=True):
        stream.write(b"%b %b\n" % (encode_word(word), row.tobytes()))


def _write_npz(stream: BinaryIO, words: Sequence[str], table: np.ndarray[Any, Any], digits: int) -> None:
    members = (("words", np.array(words, dtype=str), zipfile.ZIP_DEFLATED), ("vectors", table, zipfile.ZIP_STORED))
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array, compression in members:
            member = zipfile.ZipInfo(f"{name}.npy")  # no date: same content, same file
            member.compress_type = compression
            with archive.open(member, "w", force_zip64=True) as inside:
                np.lib.format.write_array(inside, array, allow_pickle=False)


def _write_npy(stream: BinaryIO, words: Sequence[str], table: np.ndarray[Any, Any], digits: int) -> None:
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(table))
    stream.write(table.data)  # np.save cannot write to a pipe


def _write_safetensors(stream: BinaryIO, words: Sequence[str], table: np.ndarray[Any, Any], digits: int) -> None:
    from safetensors.numpy import save

    stream.write(save({"vectors": table}, metadata={"words": json.dumps(list(words))}))


_WRITERS: dict[str, Callable[[BinaryIO, Sequence[str], np.ndarray[Any, Any], int], None]] = {
    "vec": _write_vec,
    "glove": _write_glove,
    "bin": _write_bin,
    "npz": _write_npz,
    "npy": _write_npy,
    "safetensors": _write_safetensors,
}


def _check_table(words: Sequence[str], vectors: Array) -> np.ndarray[Any, Any]:
    array = to_numpy(vectors) if is_array(vectors) else np.asarray(vectors)
    if array.ndim != 2 or len(words) != len(array) or not array.size or array.dtype.kind not in "fiu":
        raise InputError(
            f"vectors: expected numbers, one row per word, ({len(words)}, d), got shape {array.shape} of {array.dtype}"
        )
    with np.errstate(over="ignore"):
        table = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise InputError(
            f"vectors: expected finite float32 values, got others in row {row} ({words[row]!r}); drop or fix it"
        )
    return table


def _check_words(words: Sequence[str], kind: str) -> None:
    """Raise for words that the format cannot restore."""
    seen: set[str] = set()
    for row, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(f"words: expected strings, got {type(word).__name__} in row {row}; convert it with str()")
        if word in seen:
            raise InputError(f"words: expected different words, got {word!r} again in row {row}; drop one of the two")
        seen.add(word)
        blanks = any(blank in word for blank in " \t\v\f")
        broken = "\n" in word or "\r" in word
        if kind in ("vec", "glove", "bin") and (not word or blanks or broken):
            what, instead = "words without blanks", "npz, npy or safetensors"
        elif kind == "npy" and broken:
            what, instead = "words without line breaks", "npz or safetensors"
        elif kind == "npz" and "\0" in word:
            what, instead = "words without NUL characters", "safetensors"
        elif kind in ("vec", "glove", "bin", "npy") and not _is_encodable(word):
            what, instead = "words that UTF-8 can write", "npz or safetensors"
        else:
            continue
        raise InputError(
            f"words: expected {what} for {kind}, got {word!r} in row {row}; choose another format ({instead})"
        )


def _is_encodable(word: str) -> bool:
    try:
        encode_word(word)
    except UnicodeEncodeError:
        return False
    return True
