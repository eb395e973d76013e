"""Saved models: a folder of two files, arrays in safetensors and everything else in JSON, written atomically.

The JSON holds its format and version, a checksum of itself and one of every array, so that a truncated, altered or
mismatched file is detected before anything is built from it. No pickle.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import shutil
from dataclasses import asdict, dataclass, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as dump_arrays

from .errors import InputError


@dataclass(frozen=True)
class Kind:
    """A kind of saved model: format name and version, stem of its two files, its loader, and how to make it again."""

    format: str
    version: int
    stem: str
    loader: str
    remake: str

    @property
    def arrays_file(self) -> str:
        return f"{self.stem}.safetensors"

    @property
    def facts_file(self) -> str:
        return f"{self.stem}.json"


ALIGNMENT = Kind("invarot alignment", 1, "alignment", "invarot.load", "align the points again")
TRANSLATION = Kind("invarot translation", 3, "translation", "invarot.translation.load", "learn it again")
KINDS = (ALIGNMENT, TRANSLATION)


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
    text = json.dumps(facts, allow_nan=False, indent=1, ensure_ascii=False)
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(6)}.new")
    fresh.mkdir()
    try:
        _write(fresh / kind.arrays_file, dump_arrays(arrays))
        _write(fresh / kind.facts_file, (text + "\n").encode())
        _put_in_place(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def read_folder(path: str | os.PathLike[str], kind: Kind) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
    """Read and check the arrays and facts that :func:`write_folder` wrote."""
    folder = Path(path)
    facts = _read_facts(folder, kind)
    arrays = _read_arrays(folder, facts, kind)
    return arrays, {name: decode(value) for name, value in facts.items()}


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


def _read_facts(folder: Path, kind: Kind) -> dict[str, Any]:
    if not folder.is_dir():
        raise InputError(
            f"path: expected a folder that an {kind.format} was saved to, got {folder}, which is not a folder"
        )
    try:
        text = (folder / kind.facts_file).read_bytes().decode()
        facts = json.loads(text)
    except FileNotFoundError as error:
        other = next((one for one in KINDS if (folder / one.facts_file).is_file()), None)
        found = f"which has no {kind.facts_file}; check the path"
        if other is not None:
            found = f"which holds an {other.format}; load it with {other.loader}"
        raise InputError(f"path: expected a saved {kind.format}, got {folder}, {found}") from error
    except ValueError as error:
        raise InputError(
            f"path: expected valid JSON in {folder / kind.facts_file}, got a truncated or altered file; save it again "
            f"({error})"
        ) from error
    if not isinstance(facts, dict) or facts.get("format") != kind.format:
        raise InputError(
            f"path: expected {kind.facts_file} of an {kind.format} in {folder}, got JSON not written by this library"
        )
    version = facts.get("format_version")
    if version != kind.version:
        raise InputError(
            f"path: expected format version {kind.version} in {folder}, got {version!r}, written by invarot "
            f"{facts.get('library_version')}; {kind.remake} with this version, or read it with that version"
        )
    if facts.get("checksum") != _checksum(facts):
        raise InputError(
            f"path: expected {folder / kind.facts_file} to match its checksum, got an altered file; save it again"
        )
    return facts


def _read_arrays(folder: Path, facts: dict[str, Any], kind: Kind) -> dict[str, np.ndarray[Any, Any]]:
    file = folder / kind.arrays_file
    try:
        arrays = load_arrays(file.read_bytes())
    except FileNotFoundError as error:
        raise InputError(
            f"path: expected a saved {kind.format}, got {folder}, which has no {kind.arrays_file}"
        ) from error
    except (SafetensorError, ValueError, KeyError) as error:
        raise InputError(
            f"path: expected a valid safetensors file, got {file}, truncated or altered; save it again ({error})"
        ) from error
    if {name: _describe(array) for name, array in arrays.items()} != facts.get("arrays"):
        raise InputError(
            f"path: expected the arrays in {file} to match their checksums, got an altered file; save it again"
        )
    return arrays


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


# -- writing, atomically ---------------------------------------------------------------------------------------------


def check_replaceable(target: Path, kind: Kind) -> None:
    """Raise unless ``target`` can be created, is an empty folder, or holds only a saved model of the same ``kind``."""
    advice = "choose another path, or move the existing files"
    if not target.exists():
        above = next(folder for folder in Path(os.path.abspath(target)).parents if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise InputError(f"path: expected a writable folder, got {target} in {above}; {advice}")
        return
    if not target.is_dir():
        raise InputError(f"path: expected a folder to save to, got {target}, which is a file; {advice}")
    found = {entry.name for entry in target.iterdir()}
    if not found:
        return
    other = sorted(found - {kind.arrays_file, kind.facts_file})
    if other:
        raise InputError(
            f"path: expected a new or empty folder, or an {kind.format}, got {target}, which holds {other[0]!r}; {advice}"
        )
    try:
        ours = json.loads((target / kind.facts_file).read_bytes()).get("format") == kind.format
    except (OSError, ValueError, AttributeError):
        ours = False
    if not ours:
        raise InputError(
            f"path: expected a new or empty folder, or an {kind.format}, got {target}, whose {kind.facts_file} was not "
            f"written by this library; {advice}"
        )


def _write(file: Path, content: bytes) -> None:
    with open(file, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _put_in_place(fresh: Path, target: Path) -> None:
    """Rename ``fresh`` to ``target``; an existing ``target`` is moved aside first and restored if the rename fails."""
    if not target.exists() or not any(target.iterdir()):
        os.replace(fresh, target)
        return
    aside = fresh.with_suffix(".old")
    os.rename(target, aside)
    try:
        os.rename(fresh, target)
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside)
