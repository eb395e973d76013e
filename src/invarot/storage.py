"""Save and load an alignment, and one of many spaces."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from .alignment.history import History, Step
from .alignment.many_result import ManyAlignment, Pair
from .alignment.result import Alignment
from .alignment.verdict import WORDS
from .arrays import Array, to_numpy
from .checks import check_choice, check_number
from .errors import InputError
from .folders import ABOUT_FILE, ALIGNMENT, MANY, building, read_folder, write_folder
from .schema import build, check, check_arrays, check_rows
from .transport.plan import EntropicPlan
from .transport.sparse_plan import SparsePlan

PLANS: dict[str, type[EntropicPlan] | type[SparsePlan]] = {"entropic": EntropicPlan, "sparse": SparsePlan}
FACTORS = {
    "entropic": {"z": "f n solved", "y": "f m solved", "a": "w n", "b": "w m", "u": "f n", "v": "f m"},
    "sparse": {"z": "f n solved", "y": "f m solved", "rows": "i k", "columns": "i k", "mass": "w k"},
}
MATCHED = {"matched_x": "w n", "matched_y": "w m"}  # where points may stay unmatched


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
    with building(path, ALIGNMENT):
        return _build(facts, arrays)


def save_many(found: ManyAlignment, path: str | os.PathLike[str]) -> None:
    """Write the maps and verdicts of many spaces to the folder ``path``, atomically."""
    arrays = {
        f"{part}.{number}": to_numpy(one)
        for part, ones in (("map", found.maps), ("offset", found.offsets))
        for number, one in enumerate(ones.values())
    }
    pairs = [{**asdict(pair), "verdict": pair.verdict.as_dict(), "status": pair.status.name} for pair in found.pairs]
    facts = {"spaces": list(found.maps), "pairs": pairs, "unrelated": list(found.unrelated), "notes": list(found.notes)}
    write_folder(path, MANY, arrays, facts)


def load_many(path: str | os.PathLike[str]) -> ManyAlignment:
    """Load the alignment of many spaces saved in the folder ``path``, with NumPy arrays."""
    arrays, facts = read_folder(path, MANY)
    with building(path, MANY):
        names = check(list[str], facts.get("spaces"), "spaces")
        pairs = tuple(check(list[Pair], facts.get("pairs"), "pairs"))
        unrelated = tuple(check(list[str], facts.get("unrelated"), "unrelated"))
        notes = tuple(check(list[str], facts.get("notes", []), "notes"))  # files of older versions have none
        everyone = {*names, *unrelated}
        if len(everyone) != len(names) + len(unrelated) or any({one.first, one.second} - everyone for one in pairs):
            raise InputError(
                "spaces, pairs, unrelated: expected each space once and no others in pairs, got other names"
            )
        for pair in pairs:
            check_choice(pair.verdict.word, "verdict.word", WORDS)
        shapes = {f"map.{number}": f"f d{number} d" for number in range(len(names))}
        check_arrays(arrays, shapes | {f"offset.{number}": "f d" for number in range(len(names))})
        maps, offsets = (
            {name: cast(Array, arrays[f"{part}.{number}"]) for number, name in enumerate(names)}
            for part in ("map", "offset")
        )
        return ManyAlignment(maps, offsets, pairs, unrelated, notes)


# -- alignments to plain values and back -----------------------------------------------------------------------------


def _kind(plan: object) -> str:
    for kind, known in PLANS.items():
        if isinstance(plan, known):
            return kind
    raise InputError(f"alignment: expected a plan of kind {' or '.join(PLANS)}, got {type(plan).__name__}")


def _arrays(alignment: Alignment) -> dict[str, np.ndarray[Any, Any]]:
    plan = alignment.plan
    if isinstance(plan, EntropicPlan) and not plan.columns.whole:
        raise InputError(
            f"alignment: expected all targets of the plan, got {plan.y.shape[0]} of {plan.shape[1]}, the others on other ranks; save "
            "what invarot.distributed.gather returns, or the map alone"
        )
    found = {"map": alignment.map, "offset": alignment.offset}
    found.update({f"plan.{name}": getattr(plan, name) for name in FACTORS[_kind(plan)]})
    for name in MATCHED:
        if getattr(alignment, name) is not None:
            found[name] = getattr(alignment, name)
    return {name: to_numpy(array) for name, array in found.items()}


def _facts(alignment: Alignment) -> dict[str, Any]:
    plan = alignment.plan
    return {
        "objective": alignment.objective,
        "status": alignment.status.name,
        "settings": alignment.settings,
        "notes": list(alignment.notes),
        "overlap": None if alignment.overlap is None else list(alignment.overlap),
        "verdict": alignment.verdict.as_dict(),
        "starts": [asdict(start) for start in alignment.starts],
        "history": alignment.history.rows(),
        "plan": {"kind": _kind(plan), "epsilon": plan.epsilon, "error": plan.error, "iterations": plan.iterations},
    }


def _build(facts: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> Alignment:
    facts = {name: value for name, value in facts.items() if name not in ABOUT_FILE}
    plan = check(dict[str, Any], facts.pop("plan", None), "plan")
    kind = check_choice(plan.pop("kind", None), "plan.kind", PLANS)
    shapes = {"map": "f dx dy", "offset": "f dy", **{f"plan.{name}": shape for name, shape in FACTORS[kind].items()}}
    matched = MATCHED if facts.get("overlap") is not None else {}
    sizes = check_arrays(arrays, shapes | matched)
    if kind == "sparse":
        check_rows(arrays["plan.rows"], sizes["n"], "plan.rows")
        check_rows(arrays["plan.columns"], sizes["m"], "plan.columns")
    if not check_number(plan.get("epsilon"), "plan.epsilon", low=0) and kind == "entropic":
        raise InputError("plan.epsilon: expected a number > 0 for an entropic plan, got 0")
    factors = {name: arrays[f"plan.{name}"] for name in FACTORS[kind]}
    history = check(list[Step], facts.pop("history", None), "history")
    found = build(
        Alignment, facts, "alignment", map=arrays["map"], offset=arrays["offset"], history=History(history),
        plan=build(PLANS[kind], plan, "plan", **factors), **{name: arrays[name] for name in matched},
    )  # fmt: skip
    check_choice(found.verdict.word, "verdict.word", WORDS)
    check_choice(found.settings.get("objective"), "settings.objective", ("simplified", "transport"))
    check_number(found.settings.get("p"), "settings.p", low=1)
    if not history or not any(start.finished for start in found.starts):
        raise InputError("history, starts: expected at least one step and one finished start, got none")
    return found
