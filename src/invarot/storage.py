"""Save and load an alignment."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from .alignment.history import History, StartRecord, Status, Step
from .alignment.result import Alignment
from .alignment.verdict import Verdict
from .arrays import to_numpy
from .errors import InputError
from .folders import ALIGNMENT, read_folder, write_folder
from .transport.plan import EntropicPlan, SparsePlan

PLANS = {"entropic": EntropicPlan, "sparse": SparsePlan}
FACTORS = {"entropic": ("z", "y", "a", "b", "u", "v"), "sparse": ("z", "y", "rows", "columns", "mass")}


def save(alignment: Alignment, path: str | os.PathLike[str]) -> None:
    """Write ``alignment`` to the folder ``path``, atomically.

    An existing alignment is replaced; a file, or a folder with anything else in it, raises an error.

    Parameters
    ----------
    alignment : Alignment
        Its arrays may be on any device; they are stored and loaded as NumPy arrays of the same dtype.
    path : path
        The folder; missing parents are created.
    """
    write_folder(path, ALIGNMENT, _arrays(alignment), _facts(alignment))


def load(path: str | os.PathLike[str]) -> Alignment:
    """Load the alignment saved in the folder ``path``, with NumPy arrays.

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
    arrays, facts = read_folder(path, ALIGNMENT)
    try:
        return _build(facts, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"path: expected a complete alignment in {path}, got a missing or unknown part ({error}); save it again"
        ) from error


# -- alignments to plain values and back -----------------------------------------------------------------------------


def _kind(plan: object) -> str:
    for kind, known in PLANS.items():
        if isinstance(plan, known):
            return kind
    raise InputError(f"alignment: expected a plan of kind {' or '.join(PLANS)}, got {type(plan).__name__}")


def _arrays(alignment: Alignment) -> dict[str, np.ndarray[Any, Any]]:
    plan = alignment.plan
    found = {"map": alignment.map, "offset": alignment.offset}
    found.update({f"plan.{name}": getattr(plan, name) for name in FACTORS[_kind(plan)]})
    return {name: to_numpy(array) for name, array in found.items()}


def _facts(alignment: Alignment) -> dict[str, Any]:
    plan = alignment.plan
    return {
        "objective": alignment.objective,
        "status": alignment.status.name,
        "settings": alignment.settings,
        "notes": list(alignment.notes),
        "verdict": alignment.verdict.as_dict(),
        "starts": [asdict(start) for start in alignment.starts],
        "history": alignment.history.rows(),
        "plan": {"kind": _kind(plan), "epsilon": plan.epsilon, "error": plan.error, "iterations": plan.iterations},
    }


def _build(facts: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> Alignment:
    plan = facts["plan"]
    kind = plan.pop("kind")
    return Alignment(
        map=arrays["map"],
        offset=arrays["offset"],
        plan=PLANS[kind](**{name: arrays[f"plan.{name}"] for name in FACTORS[kind]}, **plan),
        objective=facts["objective"],
        history=History([Step(**row) for row in facts["history"]]),
        status=Status[facts["status"]],
        starts=tuple(StartRecord(**start) for start in facts["starts"]),
        verdict=Verdict.from_dict(facts["verdict"]),
        settings=facts["settings"],
        notes=tuple(facts["notes"]),
    )
