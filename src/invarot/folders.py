"""Saved models: a folder with one file, arrays in safetensors and everything else as JSON in its header.

One file is replaced by one rename, so that a reader beside a writer sees the old model or the new one and nothing
between. The JSON holds its format and version, a checksum of itself and one of every array, so that a truncated or
altered file is detected before anything is built from it. No pickle. Folders with the JSON in a second file, which
earlier versions wrote, are read too.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as dump_arrays

from .errors import InputError
from .files import reading, write_file
from .parts import PART

FACTS = "invarot"  # where the header keeps the JSON
ABOUT_FILE = ("format", "format_version", "library_version", "arrays", "checksum")  # facts about the file itself
LONGEST_HEADER = 100_000_000  # bytes, as in safetensors


@dataclass(frozen=True)
class Kind:
    """A kind of saved model: format name and version, stem of its file, its loader, and how to make it again."""

    format: str
    version: int
    stem: str
    loader: str
    remake: str

    @property
    def file(self) -> str:
        return f"{self.stem}.safetensors"

    @property
    def second_file(self) -> str:
        """The JSON beside the arrays, as earlier versions wrote it."""
        return f"{self.stem}.json"


ALIGNMENT = Kind("invarot alignment", 1, "alignment", "invarot.load", "align the points again")
MANY = Kind("invarot alignment of many spaces", 1, "many", "invarot.load_many", "align the spaces again")
HUB = Kind("invarot hub", 1, "hub", "invarot.translation.load_hub", "learn it again")
TRANSLATION = Kind("invarot translation", 3, "translation", "invarot.translation.load", "learn it again")
KINDS = (ALIGNMENT, MANY, HUB, TRANSLATION)


def write_folder(
    path: str | os.PathLike[str], kind: Kind, arrays: dict[str, np.ndarray[Any, Any]], facts: dict[str, Any]
) -> None:
    """Write arrays and facts to the folder ``path``; only a folder of the same kind is replaced."""
    target = Path(os.path.realpath(path))
    check_replaceable(target, kind)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    named = {"format": kind.format, "format_version": kind.version, "library_version": _library_version()}
    facts = {**named, **{name: encode(value, name) for name, value in facts.items()}}
    facts["arrays"] = {name: _describe(array) for name, array in arrays.items()}
    facts["checksum"] = _checksum(facts)
    content = dump_arrays(arrays, metadata={FACTS: json.dumps(facts, allow_nan=False)})
    made = not target.exists()
    target.mkdir(parents=True, exist_ok=True)
    try:
        with write_file(target / kind.file) as stream:
            stream.write(content)
    except BaseException:
        if made:
            with suppress(OSError):  # another writer has written there meanwhile
                target.rmdir()
        raise
    (target / kind.second_file).unlink(missing_ok=True)


def read_folder(path: str | os.PathLike[str], kind: Kind) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
    """Read and check the arrays and facts that :func:`write_folder` wrote."""
    folder = Path(path)
    file = folder / kind.file
    with reading(file):
        _check_folder(folder, kind)
        second = folder / kind.second_file
        older = second.read_bytes() if second.is_file() else None  # before the arrays: a writer deletes it after them
        content = file.read_bytes()
        facts = _parse_facts(
            _read_metadata(content[8 : 8 + int.from_bytes(content[:8], "little")]) or older, folder, kind
        )
        arrays = load_arrays(content)
        if {name: _describe(array) for name, array in arrays.items()} != facts.get("arrays"):
            raise InputError(
                f"path: expected the arrays in {file} to match their checksums, got an altered file; save it again"
            )
        return arrays, {name: decode(value) for name, value in facts.items()}


@contextmanager
def building(path: object, kind: Kind) -> Iterator[None]:
    """Turn whatever goes wrong while a model is built from what was read into an `InputError` that names the folder."""
    try:
        yield
    except Exception as error:
        raise InputError(
            f"path: expected a complete {kind.format} in {path}, got a missing, unknown or wrong part "
            f"({error or type(error).__name__}); {kind.remake}"
        ) from error


def holds_model(path: str | os.PathLike[str], kind: Kind) -> bool:
    """Return whether something was saved to the folder ``path``; a writer that was killed leaves none."""
    return (Path(path) / kind.file).is_file()


def encode(value: Any, where: str) -> Any:
    """Convert to plain JSON values; floats that JSON cannot represent become {"float": "inf"} and so on."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {str(key): encode(one, f"{where}.{key}") for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(one, where) for one in value]
    raise InputError(f"facts: expected numbers, strings, lists and dicts in {where}, got {type(value).__name__}")


def decode(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"float"}:
            return float(value["float"])
        return {key: decode(one) for key, one in value.items()}
    return [decode(one) for one in value] if isinstance(value, list) else value


# -- reading and checking --------------------------------------------------------------------------------------------


def _check_folder(folder: Path, kind: Kind) -> None:
    if not folder.is_dir():
        raise InputError(
            f"path: expected a folder that an {kind.format} was saved to, got {folder}, which is not a folder; name the folder that save wrote"
        )
    if not holds_model(folder, kind):
        other = next((one for one in KINDS if holds_model(folder, one)), None)
        found = f"which has no {kind.file}; check the path"
        if other is not None:
            found = f"which holds an {other.format}; load it with {other.loader}"
        raise InputError(f"path: expected a saved {kind.format}, got {folder}, {found}")


def _read_metadata(header: bytes) -> str | None:
    text = json.loads(header).get("__metadata__", {}).get(FACTS)
    return text if isinstance(text, str) else None


def _parse_facts(text: str | bytes | None, folder: Path, kind: Kind) -> dict[str, Any]:
    facts = None if text is None else json.loads(text)
    if not isinstance(facts, dict) or facts.get("format") != kind.format:
        raise InputError(
            f"path: expected an {kind.format} in {folder}, got a file not written by this library; name a folder that save wrote"
        )
    version = facts.get("format_version")
    if version != kind.version:
        raise InputError(
            f"path: expected format version {kind.version} in {folder}, got {version!r}, written by invarot "
            f"{facts.get('library_version')}; {kind.remake} with this version, or read it with that version"
        )
    if facts.get("checksum") != _checksum(facts):
        raise InputError(
            f"path: expected the model in {folder} to match its checksum, got an altered file; save it again"
        )
    return facts


def _checksum(facts: dict[str, Any]) -> str:
    """Return the SHA-256 of all facts except the checksum itself, serialised in one fixed form."""
    rest = {name: value for name, value in facts.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _describe(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(array.reshape(-1).view(np.uint8).data).hexdigest() if array.size else ""
    return {"dtype": str(array.dtype), "shape": list(array.shape), "sha256": digest}


def _library_version() -> str:
    try:
        return metadata.version("invarot")
    except metadata.PackageNotFoundError:
        return "unknown"


# -- writing ---------------------------------------------------------------------------------------------------------


def check_replaceable(target: Path, kind: Kind, *, overwrite: bool = True) -> None:
    """Raise unless ``target`` can be created, is an empty folder, or holds only a saved model of the same ``kind``.

    Without ``overwrite`` it may not hold a model either; the message says what is there.
    """
    advice = "choose another path, or move the existing files"
    if not target.exists():
        above = next(folder for folder in Path(os.path.abspath(target)).parents if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise InputError(f"path: expected a writable folder, got {target} in {above}; {advice}")
        return
    if not target.is_dir():
        raise InputError(f"path: expected a folder to save to, got {target}, which is a file; {advice}")
    if not os.access(target, os.W_OK):
        raise InputError(f"path: expected a writable folder, got {target}; {advice}")
    found = sorted(entry.name for entry in target.iterdir() if not PART.fullmatch(entry.name))
    other = [name for name in found if name not in (kind.file, kind.second_file)]
    if other or (found and not _is_ours(target, kind)):
        what = f"holds {other[0]!r}" if other else f"has {found[0]}, which was not written by this library"
        raise InputError(
            f"path: expected a new or empty folder, or an {kind.format}, got {target}, which {what}; {advice}"
        )
    if found and not overwrite:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime((target / found[0]).stat().st_mtime))
        raise InputError(
            f"path: expected a new or empty folder, got {target}, which holds an {kind.format} of {when}; choose another "
            "path, or overwrite it with --force"
        )


def _is_ours(folder: Path, kind: Kind) -> bool:
    """Return whether the model in ``folder``, whole or not, is of this ``kind``."""
    try:
        with reading(folder), open(folder / kind.file, "rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            text = _read_metadata(stream.read(min(size, LONGEST_HEADER)))
            facts = json.loads((folder / kind.second_file).read_bytes() if text is None else text)
            return bool(facts["format"] == kind.format)
    except InputError:
        return False
