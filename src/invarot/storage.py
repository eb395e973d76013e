"""Save and load an alignment: a folder of two files, arrays in safetensors and everything else in JSON; no pickle.

``alignment.json`` names its format and version, holds a checksum of itself and one of every array, so that a file that was
cut short, altered or mixed with another is told apart from a good one before anything is built from it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import shutil
from dataclasses import asdict, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as dump_arrays

from .alignment.history import History, Step
from .alignment.result import Alignment, StartRecord, Status
from .alignment.verdict import Evidence, Verdict
from .arrays import to_numpy
from .errors import InputError
from .transport.plan import EntropicPlan, SparsePlan

FORMAT = "invarot alignment"
FORMAT_VERSION = 1
ARRAYS_FILE, FACTS_FILE = "alignment.safetensors", "alignment.json"
PLANS = {"entropic": EntropicPlan, "sparse": SparsePlan}
FACTORS = {"entropic": ("z", "y", "a", "b", "u", "v"), "sparse": ("z", "y", "rows", "columns", "mass")}


def save(alignment: Alignment, path: str | os.PathLike[str]) -> None:
    """Write ``alignment`` to the folder ``path``, all of it or nothing.

    An alignment that is already there is replaced; a folder with anything else in it, or a file, is left alone.

    Parameters
    ----------
    alignment : Alignment
        Its arrays may be on any device; they are stored, and come back, as NumPy arrays of the same dtype.
    path : path
        The folder; those above it are made where they are missing.
    """
    target = Path(os.path.realpath(path))
    _check_replaceable(target)
    arrays = _arrays(alignment)
    facts = _facts(alignment)
    facts["arrays"] = {name: _describe(array) for name, array in arrays.items()}
    facts["checksum"] = _checksum(facts)
    text = json.dumps(facts, allow_nan=False, indent=1, ensure_ascii=False)
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(6)}.new")
    fresh.mkdir()
    try:
        _write(fresh / ARRAYS_FILE, dump_arrays(arrays))
        _write(fresh / FACTS_FILE, (text + "\n").encode())
        _put_in_place(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def load(path: str | os.PathLike[str]) -> Alignment:
    """The alignment that was saved to the folder ``path``, with NumPy arrays.

    Examples
    --------
    >>> import tempfile, numpy as np, invarot
    >>> x = np.random.default_rng(0).gamma(2.0, size=(50, 2))
    >>> result = invarot.align(x, x @ [[0.0, 1.0], [-1.0, 0.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(folder + "/turned")
    ...     again = invarot.load(folder + "/turned")
    >>> bool(np.all(again.map == result.map)), again.verdict.word == result.verdict.word
    (True, True)
    """
    folder = Path(path)
    facts = _read_facts(folder)
    arrays = _read_arrays(folder, facts)
    try:
        return _build(facts, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"path: expected every part of an alignment in {folder}, got none for {error}; save it again") from error


# -- from an alignment to plain values, and back ---------------------------------------------------------------------


def _kind(plan: object) -> str:
    for kind, known in PLANS.items():
        if isinstance(plan, known):
            return kind
    raise InputError(f"alignment: expected a plan of one of {', '.join(PLANS)} kinds, got {type(plan).__name__}")


def _arrays(alignment: Alignment) -> dict[str, np.ndarray[Any, Any]]:
    plan = alignment.plan
    found = {"map": alignment.map, "offset": alignment.offset}
    found.update({f"plan.{name}": getattr(plan, name) for name in FACTORS[_kind(plan)]})
    return {name: np.ascontiguousarray(to_numpy(array)) for name, array in found.items()}


def _facts(alignment: Alignment) -> dict[str, Any]:
    plan = alignment.plan
    facts = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": _library_version(),
        "objective": alignment.objective,
        "status": alignment.status.name,
        "settings": alignment.settings,
        "verdict": alignment.verdict.as_dict(),
        "starts": [asdict(start) for start in alignment.starts],
        "history": alignment.history.rows(),
        "plan": {"kind": _kind(plan), "epsilon": plan.epsilon, "error": plan.error, "iterations": plan.iterations},
    }
    return {name: _encode(value, name) for name, value in facts.items()}


def _build(facts: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> Alignment:
    values = {name: _decode(value) for name, value in facts.items()}
    plan = values["plan"]
    kind = plan.pop("kind")
    verdict = values["verdict"]
    return Alignment(
        map=arrays["map"],
        offset=arrays["offset"],
        plan=PLANS[kind](**{name: arrays[f"plan.{name}"] for name in FACTORS[kind]}, **plan),
        objective=values["objective"],
        history=History([Step(**row) for row in values["history"]]),
        status=Status[values["status"]],
        starts=tuple(StartRecord(**start) for start in values["starts"]),
        verdict=Verdict(**{**verdict, "evidence": Evidence(**verdict["evidence"]), "reasons": tuple(verdict["reasons"])}),
        settings=values["settings"],
    )


def _encode(value: Any, where: str) -> Any:
    """Plain JSON values; floats that JSON has no word for become {"float": "inf"} and the like."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {str(key): _encode(one, f"{where}.{key}") for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encode(one, where) for one in value]
    raise InputError(f"alignment: expected numbers, words, lists and dicts in {where}, got {type(value).__name__}")


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"float"}:
            return float(value["float"])
        return {key: _decode(one) for key, one in value.items()}
    return [_decode(one) for one in value] if isinstance(value, list) else value


# -- reading, with every check ---------------------------------------------------------------------------------------


def _read_facts(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise InputError(f"path: expected a folder that an alignment was saved to, got {folder}, which is not a folder")
    try:
        text = (folder / FACTS_FILE).read_bytes().decode()
        facts = json.loads(text)
    except FileNotFoundError as error:
        raise InputError(f"path: expected a saved alignment, got {folder}, which has no {FACTS_FILE}") from error
    except ValueError as error:
        raise InputError(f"path: {folder / FACTS_FILE} is not whole JSON, so it was cut short or altered; save it again "
                         f"({error})") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise InputError(f"path: expected {FACTS_FILE} of an alignment in {folder}, got JSON that is not of this library")
    version = facts.get("format_version")
    if version != FORMAT_VERSION:
        raise InputError(
            f"path: expected format version {FORMAT_VERSION} in {folder}, got {version!r}; read it with the invarot that "
            f"wrote it ({facts.get('library_version')})"
        )
    if facts.get("checksum") != _checksum(facts):
        raise InputError(f"path: {folder / FACTS_FILE} does not agree with its checksum, so it was altered; save it again")
    return facts


def _read_arrays(folder: Path, facts: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    file = folder / ARRAYS_FILE
    try:
        arrays = load_arrays(file.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"path: expected a saved alignment, got {folder}, which has no {ARRAYS_FILE}") from error
    except (SafetensorError, ValueError, KeyError) as error:
        raise InputError(f"path: {file} is not a whole safetensors file, so it was cut short or altered; save it again "
                         f"({error})") from error
    if {name: _describe(array) for name, array in arrays.items()} != facts.get("arrays"):
        raise InputError(f"path: the arrays in {file} do not agree with their checksums, so one was altered; save it again")
    return arrays


def _checksum(facts: dict[str, Any]) -> str:
    """Of all facts but the checksum itself, in one fixed spelling."""
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


# -- writing, all or nothing -----------------------------------------------------------------------------------------


def _check_replaceable(target: Path) -> None:
    """Nothing there, an empty folder, or an alignment and nothing else."""
    if not target.exists():
        return
    advice = "choose another path, or move what is there"
    if not target.is_dir():
        raise InputError(f"path: expected a folder to save to, got {target}, which is a file; {advice}")
    found = {entry.name for entry in target.iterdir()}
    if not found:
        return
    other = sorted(found - {ARRAYS_FILE, FACTS_FILE})
    if other:
        raise InputError(f"path: expected a new or empty folder, or an alignment, got {target}, which holds {other[0]!r}; {advice}")
    try:
        ours = json.loads((target / FACTS_FILE).read_bytes()).get("format") == FORMAT
    except (OSError, ValueError, AttributeError):
        ours = False
    if not ours:
        raise InputError(f"path: expected a new or empty folder, or an alignment, got {target}, whose {FACTS_FILE} is not one "
                         f"of this library; {advice}")


def _write(file: Path, content: bytes) -> None:
    with open(file, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def _put_in_place(fresh: Path, target: Path) -> None:
    """Rename; an alignment in the way steps aside first, and comes back if the rename fails."""
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
