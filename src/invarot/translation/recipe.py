"""How a translation is learned: named presets, any part of which can be changed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..alignment.overlap import check_overlap
from ..checks import check_choice, check_count, check_flag, check_known, check_number
from ..errors import InputError
from ..starts import STARTS
from ..transport.schedule import Schedule
from ..words.preprocessing import STEPS as PREPARATIONS

START_NAMES = ("auto", *(name for name in STARTS if name != "seeds"))  # which needs known pairs
EFFORTS = ("quick", "normal", "high", "max")


def _check_prepare(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"prepare: expected a sequence of {', '.join(PREPARATIONS)}, got {value!r}; pass a tuple")
    return tuple(check_choice(step, "prepare", PREPARATIONS) for step in value)


def _check_stages(value: Any) -> tuple[int, ...]:
    sizes = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    whole = tuple(check_count(size, "stages", low=2) for size in sizes)
    if not whole or list(whole) != sorted(set(whole)):
        raise InputError(
            f"stages: expected growing numbers of words such as (2000, 10000), got {value!r}; pass a tuple"
        )
    return whole


def _check_overlap(value: Any, p: float) -> None:
    if isinstance(value, (tuple, list)):
        raise InputError(
            f'overlap: expected "auto", a share in (0, 1] or None, got {value!r}; give the share of the source'
        )
    if check_overlap(value) is not None and not math.isinf(p):
        raise InputError(f"overlap: expected None with p={p:g}, got {value!r}; leave one of them out")


@dataclass(frozen=True)
class Recipe:
    """The settings of every step; each value is checked.

    Attributes
    ----------
    name : str
    prepare : tuple of {"unit", "center", "none"}
        Preprocessing of both sides, in order.
    stages : tuple of int
        Words per side in each stage of the solve, increasing. The first stage searches; each later one starts from the
        map of the previous one.
    schedule : Schedule, optional
        How epsilon decreases in the first stage, as in :func:`invarot.align`; None adapts to the data.
    start : str
        Where the first stage starts, as in :func:`invarot.align`.
    effort : {"quick", "normal", "high", "max"} or None
        How long ``start="auto"`` searches; None with any other start.
    p : float in [1, inf]
        Schatten exponent of the solved map.
    overlap : {"auto"}, float or None
        Share of the source words that have a translation, as in :func:`invarot.align`; "auto" estimates it. None: all have.
    rounds : int
        Maximal number of rounds of refinement; 0 keeps the solved map.
    refine_words : int
        Words per side used in the refinement. Local centring and penalties are not applied to vocabularies with
        more.
    local_centring : float in [0, 1]
        Share of the mean of its neighbours that is subtracted from each word. Needs 500 words per side.
    match_penalty : float in [0, 1]
        Penalty for already matched words, per unit of the cosine to their best match. Needs 10,000 words per side.
    rank_penalty : float in [0, 1]
        Penalty for rare words, per unit of log rank. Needs 10,000 words per side, and rows in order of frequency.
    spelling : float
        Weight of spelling relative to the vectors; 0 uses only the vectors.
    ordered : bool
        Whether rows come most frequent first.
    """

    name: str = "best"
    prepare: tuple[str, ...] = ("unit", "center", "unit")
    stages: tuple[int, ...] = (5000,)
    schedule: Schedule | None = None
    start: str = "auto"
    effort: str | None = "high"
    p: float = math.inf
    overlap: str | float | None = None
    rounds: int = 10
    refine_words: int = 50_000
    local_centring: float = 0.125
    match_penalty: float = 0.35
    rank_penalty: float = 0.02
    spelling: float = 0.0
    ordered: bool = True

    def __post_init__(self) -> None:
        checked = {
            "prepare": _check_prepare(self.prepare),
            "stages": _check_stages(self.stages),
            "p": check_number(self.p, "p", low=1),
            "rounds": check_count(self.rounds, "rounds", low=0),
            "refine_words": check_count(self.refine_words, "refine_words", low=2),
            "spelling": check_number(self.spelling, "spelling", low=0, high=1e6),
            "ordered": check_flag(self.ordered, "ordered"),
        }
        for name in ("local_centring", "match_penalty", "rank_penalty"):
            checked[name] = check_number(getattr(self, name), name, low=0, high=1)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not isinstance(self.name, str):
            raise InputError(f"name: expected a word, got {self.name!r}; it is only shown")
        if self.schedule is not None and not isinstance(self.schedule, Schedule):
            raise InputError(
                f"schedule: expected an invarot.Schedule or None, got {self.schedule!r}; None adapts to the data"
            )
        _check_overlap(self.overlap, self.p)
        check_choice(self.start, "start", START_NAMES)
        if self.start == "auto":
            check_choice(self.effort, "effort", EFFORTS)
        elif self.effort is not None:
            raise InputError(
                f"effort: expected None with start={self.start!r}, which does not search, got {self.effort!r}; "
                'set effort=None or start="auto"'
            )
        if self.rank_penalty and not self.ordered:
            raise InputError(
                "rank_penalty: expected 0 with ordered=False, since rows are then not ranked by frequency, got "
                f"{self.rank_penalty:g}; set rank_penalty=0 or ordered=True"
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON can hold; ``p`` may be inf."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Recipe:
        """Build a recipe from what `as_dict` returned."""
        schedule = values["schedule"]
        return cls(**{**values, "schedule": None if schedule is None else Schedule(**schedule)})


PRESETS = {
    "best": Recipe(),
    "fast": Recipe(
        "fast",
        stages=(2500,),
        effort="normal",
        rounds=3,
        refine_words=20_000,
        local_centring=0.0,
        match_penalty=0.0,
        rank_penalty=0.0,
    ),
    "paper": Recipe(
        "paper",
        stages=(5000, 20_000),
        schedule=Schedule(1.0, 0.95, 0.01),
        start="random",
        effort=None,
        rounds=0,
        local_centring=0.0,
        match_penalty=0.0,
        rank_penalty=0.0,
    ),
}


def recipe(preset: str = "best", **changes: Any) -> Recipe:
    """Return a preset with some of its fields changed.

    ``start`` other than "auto" sets ``effort`` to None, and ``ordered=False`` sets ``rank_penalty`` to 0, unless they are given
    too.

    Examples
    --------
    >>> recipe("fast", spelling=0.6).stages
    (2500,)
    >>> recipe(ordered=False).rank_penalty
    0.0
    """
    return change_recipe(PRESETS[check_choice(preset, "preset", PRESETS)], changes, "recipe")


def take_recipe(how: Any) -> Recipe:
    """Return the recipe that ``how`` is, or names."""
    if isinstance(how, Recipe):
        return how
    if not isinstance(how, str):
        raise InputError(
            f"how: expected a Recipe or one of {', '.join(PRESETS)}, got {how!r}; see invarot.translation.recipe"
        )
    return PRESETS[check_choice(how, "how", PRESETS)]


def change_recipe(recipe: Recipe, changes: dict[str, Any], where: str) -> Recipe:
    """Change fields of ``recipe``, and those that depend on them; an unknown name is an error of ``where``."""
    check_known(changes, [field.name for field in fields(Recipe)], where)
    implied: dict[str, Any] = {}
    if changes.get("start", "auto") != "auto":
        implied["effort"] = None
    elif "start" in changes and recipe.effort is None:
        implied["effort"] = Recipe.effort
    if changes.get("ordered") is False:
        implied["rank_penalty"] = 0.0
    return replace(recipe, **{**implied, **changes})
