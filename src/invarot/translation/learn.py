"""From two vocabularies to a translation: search on the frequent words, solve in growing stages, refine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..alignment.result import Alignment
from ..alignment.solve import align
from ..arrays import Array, place, to_numpy
from ..checks import check_count, check_rng
from ..errors import InputError
from ..retrieval.metrics import evaluate
from ..retrieval.refine import Refined, Round, refine
from ..threads import own_threads
from ..words.dictionaries import Gold
from ..words.preprocessing import Preprocessing
from ..words.readers import read_vectors
from ..words.vectors import Vectors
from ..words.vocabulary import looks_like_word
from .checkpoint import Checkpoint
from .model import Translation
from .presets import Recipe, recipe
from .surroundings import surroundings
from .watch import WATCHED, Clock, Listener, Watch, step_watcher, watcher

MANY = 15_000  # words from which a first refinement on a third of them, a ninth of the work a round, saves time
LOOSE = 50.0  # weight of one-sided pairs in units of dimensions a word, chosen on 100 and 300 dimensions
TRUST = 4.0  # no word is trusted more or less than the median one by more than this factor


def learn(
    source: Any,
    target: Any,
    *,
    how: Recipe | str = "best",
    rng: int | np.random.Generator = 0,
    device: str = "cpu",
    memory: str | int | None = None,
    keep: int | None = None,
    dictionary: Sequence[tuple[str, str]] | None = None,
    on_event: Listener | None = None,
    checkpoint: Checkpoint | None = None,
) -> Translation:
    """Learn to translate between two vocabularies with no dictionary.

    Parameters
    ----------
    source, target : Vectors, or whatever :func:`invarot.words.read_vectors` takes: a file, a gensim ``KeyedVectors``
        Most frequent words first, unless the recipe says otherwise.
    how : Recipe or the name of a preset
    rng : int or Generator
    device : {"cpu", "cuda", "auto"}
    memory : bound of the plan step, as in :func:`invarot.align`
    keep : int, optional
        Only the first so many words of each side stay in the model; the others help to fit it.
    dictionary : pairs of words, optional
        The history then says how many of them were right (``precision@1``, CSLS) after each stage of the solve and each
        round of refinement, and (``right``, among the words of the stage) after each step that shows its map. It takes
        no part in learning.
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
    source, target = read_vectors(source), read_vectors(target)
    for name, side in (("source", source), ("target", target)):
        if len(side) < 10:
            raise InputError(f"{name}: expected at least 10 words, got {len(side)}")
    if keep is not None:
        check_count(keep, "keep", low=10)
    generators = check_rng(rng).spawn(len(plan.stages))  # one each: a stage taken from a checkpoint draws nothing
    clock = Clock(on_event)
    prepare_x, x = Preprocessing(plan.steps).fit_apply(np.ascontiguousarray(source.vectors, dtype=np.float32))
    prepare_y, y = Preprocessing(plan.steps).fit_apply(np.ascontiguousarray(target.vectors, dtype=np.float32))
    x, y = place(to_numpy(x), device), place(to_numpy(y), device)
    rows_x, rows_y = _word_rows(source), _word_rows(target)
    watch = None if dictionary is None else watcher(x, y, source, target, dictionary)

    found: Alignment | None = None
    for number, size in enumerate(plan.stages):
        name = f"solve {min(size, max(len(rows_x), len(rows_y)))}"
        saved = checkpoint.load(name) if checkpoint else None
        if saved is not None:
            found = saved
        else:
            few_x, few_y = x[rows_x[:size]], y[rows_y[:size]]
            right = None if dictionary is None else step_watcher(
                few_x, few_y, source.take(rows_x[:size]).words, target.take(rows_y[:size]).words, dictionary
            )  # fmt: skip
            options = plan.align_options()
            if number:  # a later stage goes on from the last map, at the epsilon it ended with
                options.update(start=_map_of(found), schedule=_last_epsilon(found), effort="normal")
            found = align(few_x, few_y, ordered=plan.ordered, memory=memory, rng=generators[number],
                          on_step=clock.observer(name, right), **options)  # fmt: skip
            if checkpoint:
                checkpoint.save(name, found)
        clock.lap(name)
        if watch is not None:
            clock.history.append({"stage": name, "precision@1": watch(_placed(found.map, x), None)})
    assert found is not None
    with own_threads():
        trust = _trust(source, x), _trust(target, y)
        refined = _refine(x, y, _placed(found.map, x), trust, plan, clock, watch)
        near = _near(x[:keep] @ refined.x_map, y[:keep] @ refined.y_map, plan)
    model = Translation(
        source=source.first(keep) if keep else source,
        target=target.first(keep) if keep else target,
        prepare_source=prepare_x,
        prepare_target=prepare_y,
        source_map=to_numpy(refined.x_map),
        target_map=to_numpy(refined.y_map),
        verdict=found.verdict,
        history=clock.history,
        settings={
            **asdict(plan),
            "fitted_words": [len(source), len(target)],
            "device": device,
            "rng": rng if isinstance(rng, int) else None,
            "seconds": clock.laps,
        },
        source_near=None if near is None else to_numpy(near[0]).astype(np.int32),
        target_near=None if near is None else to_numpy(near[1]).astype(np.int32),
    )
    if plan.spelling:
        model = model.spelled(plan.spelling)
    if plan.taken and max(len(model.source), len(model.target)) <= plan.refine_words:
        with own_threads():
            model = model.with_best(device=device)
    if near is not None or model.source_best is not None or plan.spelling or model.rare:
        clock.lap("finish")
        if watch is not None and dictionary is not None:
            clock.history.append({"stage": "finish", "precision@1": _right(model, dictionary)})
    return model


def _right(model: Translation, dictionary: Sequence[tuple[str, str]]) -> float | None:
    """P@1 of the model among the first words of each side."""
    gold = Gold.from_pairs(dictionary, model.source.words[:WATCHED], model.target.words[:WATCHED])
    x, y = model.common()
    return evaluate(x[:WATCHED], y[:WATCHED], gold.targets, at=(1,)).precision[1] if gold.queries else None


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


def _placed(array: Array, like: Array) -> Array:
    """``array`` where ``like`` is."""
    return place(to_numpy(array), "cpu" if isinstance(like, np.ndarray) else str(like.device))


def _trust(vectors: Vectors, like: Array) -> Array:
    """The length of each word's vector as it was read, which grows with what the text said of the word.

    In units of their median and within a factor of ``TRUST``: other makers of vectors give lengths another meaning.
    """
    lengths = np.linalg.norm(vectors.vectors.astype(np.float32), axis=1)
    return _placed(np.clip(lengths / (float(np.median(lengths)) or 1.0), 1 / TRUST, TRUST), like)


def _near(x: Array, y: Array, plan: Recipe) -> tuple[Array, Array] | None:
    """The neighbours of each word in its own language; not where they would cost more than the rest."""
    if not plan.local or max(x.shape[0], y.shape[0]) > plan.refine_words:
        return None
    left, right = surroundings(x), surroundings(y)
    return None if left is None or right is None else (left, right)


def _loose(dimension: int, words: int) -> float:
    """What pairs count for that only one side chooses: the more numbers a map has for each word, the more they help."""
    weight = min(0.5, LOOSE * dimension / words)
    return weight if weight >= 0.3 else 0.0  # less is not worth another search


def _refine(
    x: Array,
    y: Array,
    start: Array,
    trust: tuple[Array, Array],
    plan: Recipe,
    clock: Clock,
    watch: Watch | None,
) -> Refined:
    """Refinement on the words of the recipe; where they are many, first on the more frequent third of them."""

    def tell(done: Round) -> None:
        event = {"stage": "refine", **asdict(done)}
        watched = event.pop("watched")
        clock.tell(event if watched is None else {**event, "precision@1": watched})

    def stage(top: int, begin: Array | tuple[Array, Array], loose: float = 0.0) -> Refined:
        few = trust[0][:top], trust[1][:top]
        return refine(x[:top], y[:top], begin, rounds=plan.rounds, trust=few, loose=loose, progress=tell, watch=watch)

    top = min(plan.refine_words, max(x.shape[0], y.shape[0]))
    begin: Array | tuple[Array, Array] = start
    if top >= MANY:
        first = stage(top // 3, start)
        begin = first.x_map, first.y_map
    refined = stage(top, begin, _loose(max(x.shape[1], y.shape[1]), min(top, x.shape[0], y.shape[0])))
    clock.lap("refine")
    return refined
