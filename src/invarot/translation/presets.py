"""How a translation is learned: a few named recipes instead of forty flags."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ..alignment.settings import paper
from ..checks import check_choice, check_count, check_number
from ..errors import InputError
from ..transport.schedule import Schedule


@dataclass(frozen=True)
class Recipe:
    """Everything but the words.

    Attributes
    ----------
    steps : preprocessing of both sides, in order.
    stages : how many frequent words each InvarOT stage couples; the first searches, each later one starts from the last.
    schedule, start, effort, p : as in :func:`invarot.align`, for the first stage.
    rounds : refinement rounds after the last stage; 0 leaves the map as solved.
    refine_words : how many words of each side take part in the refinement.
    local : how much of the mean of its neighbours is taken off each word in the common space, where a side of the model has
        at most ``refine_words``.
    taken : how far a word with a near match of its own is held back from others, where both sides of the model have at
        least 10,000 words and at most ``refine_words``.
    rare : how far a word is held back for each unit of the log of its rank above the mean, where rows come most frequent
        first and both sides of the model are of the sizes above.
    spelling : weight of how words are spelled beside their vectors' 1, in the common space; 0 goes by the vectors alone, and so
        do languages that do not share an alphabet.
    ordered : whether rows come most frequent first.
    """

    name: str = "best"
    steps: tuple[str, ...] = ("unit", "center", "unit")
    stages: tuple[int, ...] = (5000,)
    schedule: Schedule | None = None
    start: str = "auto"
    effort: str = "high"
    p: float = math.inf
    rounds: int = 10
    refine_words: int = 50_000
    local: float = 0.125
    taken: float = 0.35
    rare: float = 0.02
    spelling: float = 0.0
    ordered: bool = True

    def align_options(self) -> dict[str, Any]:
        options = {"p": self.p, "schedule": self.schedule, "start": self.start, "tol": 1e-4}
        return {**options, "effort": self.effort} if self.start == "auto" else options


PRESETS = {
    "best": Recipe(),
    "fast": Recipe(
        "fast", stages=(2500,), effort="normal", rounds=3, refine_words=20_000, local=0.0, taken=0.0, rare=0.0
    ),
    "paper": Recipe(
        "paper",
        stages=(5000, 20_000),
        schedule=paper()["schedule"],
        start="random",
        rounds=0,
        local=0.0,
        taken=0.0,
        rare=0.0,
    ),
}


def recipe(preset: str = "best", **changes: Any) -> Recipe:
    """A preset with some of its parts changed, each checked."""
    found = PRESETS[check_choice(preset, "preset", PRESETS)]
    if "p" in changes:
        changes["p"] = check_number(changes["p"], "p", low=1)
    for name, high in (("local", 1), ("taken", 1), ("rare", 1), ("spelling", math.inf)):
        if name in changes:
            changes[name] = check_number(changes[name], name, low=0, high=high)
    if "stages" in changes:
        changes["stages"] = tuple(check_count(size, "stages", low=2) for size in changes["stages"])
    for name, low in (("rounds", 0), ("refine_words", 2)):
        if name in changes:
            check_count(changes[name], name, low=low)
    if not changes.get("ordered", found.ordered):
        if changes.get("rare"):
            raise InputError(
                f"rare: expected 0 where rows are not ordered, since their rank says nothing, got {changes['rare']}; "
                "leave it out, or say ordered=True"
            )
        changes["rare"] = 0.0
    return replace(found, **changes)
