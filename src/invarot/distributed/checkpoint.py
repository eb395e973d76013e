"""What a solve over ranks needs to go on: the map, its rivals and the epsilon, which every rank has. Any number of ranks may resume."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save as dump_arrays

from ..alignment.history import Step
from ..alignment.problem import Problem
from ..arrays import Array, to_numpy
from ..errors import InputError
from ..files import reading, write_file
from .shards import exchange

STAGES = ("solve", "sharpen")  # those on all rows
SUM_TOLERANCE = 1e-6  # relative difference of second moments that sums in another order may have


@dataclass(frozen=True)
class Saved:
    """The state after a step on all rows."""

    map: np.ndarray[Any, Any]  # (dx, dy)
    rivals: np.ndarray[Any, Any]  # (k, dx, dy)
    epsilon: float
    better: int


class Checkpoint:
    """A file that the first rank rewrites after every step on all rows, and removes at the end."""

    def __init__(self, path: str | os.PathLike[str], problem: Problem, facts: dict[str, Any], *, writes: bool) -> None:
        self.path, self.problem, self.writes = Path(path), problem, writes
        self.facts = json.loads(json.dumps(facts))
        self.rivals: Array = problem.second_moment[:0]
        self.better = 0

    def load(self) -> Saved | None:
        """Return the state that was saved; None if there is none. Another problem, or other options, raise an error."""
        if not self.path.exists():
            return None
        with reading(self.path), safe_open(self.path, "np") as file:
            facts = json.loads((file.metadata() or {}).get("invarot", "{}"))
            arrays = {name: file.get_tensor(name) for name in ("map", "rivals", "second_moment")}
            state = {name: facts.pop(name) for name in ("epsilon", "better")}
        moment = to_numpy(self.problem.second_moment)
        if facts != self.facts or not np.allclose(
            arrays["second_moment"], moment, rtol=SUM_TOLERANCE, atol=SUM_TOLERANCE * moment.max()
        ):
            raise InputError(
                f"checkpoint: expected one of the same points and options, got another in {self.path}; "
                "delete it, or name another file"
            )
        return Saved(arrays["map"], arrays["rivals"], state["epsilon"], state["better"])

    def load_on_all(self, group: Any) -> Saved | None:
        """Return what the first rank finds, on every rank: only that one has to see the file."""
        said: tuple[str | None, Saved | None] = (None, None)
        if self.writes:
            try:
                said = None, self.load()
            except InputError as error:
                said = str(error), None
        error_text, saved = exchange(said, group)[0]
        if error_text is not None:
            raise InputError(error_text)
        return saved

    def watch(self, step: Step) -> None:
        """Save the state after a step on all rows."""
        if not self.writes or step.stage not in STAGES or step.map is None:
            return
        dx, dy = step.map.shape
        arrays = {
            "map": to_numpy(step.map),
            "rivals": np.ascontiguousarray(to_numpy(self.rivals).reshape(-1, dx, dy)),
            "second_moment": to_numpy(self.problem.second_moment),
        }
        facts = {**self.facts, "epsilon": float(step.epsilon), "better": self.better}
        with write_file(self.path) as stream:
            stream.write(dump_arrays(arrays, metadata={"invarot": json.dumps(facts)}))

    def drop(self) -> None:
        if self.writes:
            self.path.unlink(missing_ok=True)
