"""From two vocabularies to a translation: search on the frequent words, solve in growing stages, refine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..alignment.history import Step
from ..alignment.result import Alignment
from ..alignment.solve import align
from ..arrays import Array, place, to_numpy
from ..checks import check_rng
from ..errors import InputError
from ..retrieval.refine import Refined, Round, refine
from ..threads import own_threads
from ..words.preprocessing import Preprocessing
from ..words.vectors import Vectors
from ..words.vocabulary import looks_like_word
from .checkpoint import Checkpoint
from .model import Translation
from .presets import Recipe, recipe

Event = dict[str, Any]
Listener = Callable[[Event], object]


def learn(
    source: Vectors,
    target: Vectors,
    *,
    how: Recipe | str = "best",
    rng: int | np.random.Generator = 0,
    device: str = "cpu",
    memory: str | int | None = None,
    on_event: Listener | None = None,
    checkpoint: Checkpoint | None = None,
) -> Translation:
    """Learn to translate between two vocabularies with no dictionary.

    Parameters
    ----------
    source, target : Vectors
        Most frequent words first, unless the recipe says otherwise.
    how : Recipe or the name of a preset
    rng : int or Generator
    device : {"cpu", "cuda", "auto"}
    memory : bound of the plan step, as in :func:`invarot.align`
    on_event : callable
        Told of every step and round: a dict with ``stage`` and what was measured.
    checkpoint : Checkpoint
        Where finished stages are kept, and taken up again.

    Examples
    --------
    >>> from invarot.words import load_core_pair
    >>> from invarot.translation import learn
    >>> english, spanish, gold = load_core_pair()
    >>> model = learn(english.first(800), spanish.first(800), how="fast")
    >>> model.source_map.shape
    (100, 100)
    """
    plan = recipe(how) if isinstance(how, str) else how
    for name, side in (("source", source), ("target", target)):
        if len(side) < 10:
            raise InputError(f"{name}: expected at least 10 words, got {len(side)}")
    generator = check_rng(rng)
    clock = Clock(on_event)
    prepare_x, x = Preprocessing(plan.steps).fit_apply(np.ascontiguousarray(source.vectors, dtype=np.float32))
    prepare_y, y = Preprocessing(plan.steps).fit_apply(np.ascontiguousarray(target.vectors, dtype=np.float32))
    x, y = place(to_numpy(x), device), place(to_numpy(y), device)
    rows_x, rows_y = _word_rows(source), _word_rows(target)

    found: Alignment | None = None
    for number, size in enumerate(plan.stages):
        name = f"solve {min(size, max(len(rows_x), len(rows_y)))}"
        saved = checkpoint.load(name) if checkpoint else None
        if saved is not None:
            found = saved
        else:
            few_x, few_y = x[rows_x[:size]], y[rows_y[:size]]
            options = plan.align_options()
            if number:  # a later stage goes on from the last map, at the epsilon it ended with
                options.update(start=_map_of(found), schedule=_last_epsilon(found))
            found = align(few_x, few_y, ordered=plan.ordered, memory=memory, rng=generator,
                          on_step=clock.observer(name), **options)  # fmt: skip
            if checkpoint:
                checkpoint.save(name, found)
        clock.lap(name)
    assert found is not None
    with own_threads():
        refined = _refine(x, y, found, plan, clock)
    return Translation(
        source=source,
        target=target,
        prepare_source=prepare_x,
        prepare_target=prepare_y,
        source_map=to_numpy(refined.x_map),
        target_map=to_numpy(refined.y_map),
        verdict=found.verdict,
        history=clock.history,
        settings={
            **asdict(plan),
            "device": device,
            "rng": rng if isinstance(rng, int) else None,
            "seconds": clock.laps,
        },
    )


@dataclass
class Clock:
    """Keeps the history and the time of each stage, and tells the listener."""

    listener: Listener | None

    def __post_init__(self) -> None:
        self.history: list[Event] = []
        self.laps: dict[str, float] = {}
        self.last = time.perf_counter()

    def observer(self, stage: str) -> Callable[[Step], None]:
        def observe(step: Step) -> None:
            self.tell({**asdict(step), "stage": stage if step.stage == "solve" else f"{stage}, {step.stage}"})

        return observe

    def tell(self, event: Event) -> None:
        self.history.append(event)
        if self.listener is not None:
            self.listener(event)

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round(now - self.last, 3)
        self.last = now


def _word_rows(vectors: Vectors) -> Any:
    """Rows of the tokens that look like words, most frequent first: numbers and punctuation wreck the profiles.

    A vocabulary in which few do (identifiers, genes) is taken whole.
    """
    rows = np.flatnonzero(looks_like_word(vectors.words))
    return rows if len(rows) >= 0.5 * len(vectors) else np.arange(len(vectors))


def _last_epsilon(found: Alignment | None) -> float:
    assert found is not None
    return found.history[-1].epsilon


def _map_of(found: Alignment | None) -> Array:
    assert found is not None
    return found.map


def _refine(x: Array, y: Array, found: Alignment, plan: Recipe, clock: Clock) -> Refined:
    def tell(done: Round) -> None:
        clock.tell({"stage": "refine", **asdict(done)})

    top = plan.refine_words
    start = place(to_numpy(found.map), str(getattr(x, "device", "cpu")) if not isinstance(x, np.ndarray) else "cpu")
    refined = refine(x[:top], y[:top], start, rounds=plan.rounds, progress=tell)
    clock.lap("refine")
    return refined
