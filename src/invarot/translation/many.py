"""Learn many vocabularies together: the same pipeline as for two, with all pairs at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..alignment.many import align_many
from ..alignment.many_result import ManyAlignment
from ..alignment.options import Search, Sinkhorn
from ..arrays import Array, as_like, place, to_numpy
from ..checks import check_count, check_rng
from ..errors import InputError
from ..threads import own_threads
from ..words.preprocessing import Preprocessing
from ..words.vectors import Vectors
from .hub import Hub
from .joint import refine_many
from .learn import FEWEST_WORDS, check_device, read_checked
from .recipe import Recipe, take_recipe
from .steps import refine, solve

Floats = np.ndarray[Any, Any]


def learn_many(
    sources: Mapping[str, Any],
    *,
    how: Recipe | str = "best",
    rng: int | np.random.Generator = 0,
    device: str | None = None,
    memory: str | int | None = None,
    keep: int | None = None,
    n_jobs: int = 1,
) -> Hub:
    """Bring many vocabularies into one space with no dictionary.

    All pairs are solved on their most frequent words (:func:`invarot.align_many`), then all maps are refined together with
    the mutual neighbours of every two vocabularies.

    Parameters
    ----------
    sources : dict of name to Vectors, path or gensim ``KeyedVectors``
    how : Recipe or {"best", "fast"}
        With ``start="auto"``, p = inf, one stage, no schedule and no overlap.
    rng, device, memory, keep
        As in :func:`invarot.translation.learn`.
    n_jobs : int
        Pairs solved at a time (extra: jobs).

    Returns
    -------
    Hub
    """
    chosen = take_recipe(how)
    if not _is_plain(chosen):
        raise InputError(
            "how: expected a recipe with start='auto', p=inf, one stage, no schedule and no overlap, such as \"best\", "
            f'got {how!r}; use "best"'
        )
    if not isinstance(sources, Mapping) or len(sources) < 2:
        raise InputError(
            f"sources: expected a dict of at least two vocabularies, got {type(sources).__name__}; write {{'en': …, 'es': …}}"
        )
    where = check_device(device)
    vectors = {str(name): read_checked(one, str(name)) for name, one in sources.items()}
    if keep is not None:
        check_count(keep, "keep", low=FEWEST_WORDS)
    prepared, clouds = {}, {}
    for name, words in vectors.items():
        prepared[name], rows = Preprocessing(chosen.prepare).fit_apply(np.ascontiguousarray(words.vectors, np.float32))
        clouds[name] = to_numpy(rows)
    found = align_many(
        {name: clouds[name][solve.select_words(words)[: chosen.stages[-1]]] for name, words in vectors.items()},
        effort=chosen.effort, device=where, rng=check_rng(rng), solver=Sinkhorn(tol=solve.SOLVE_TOL, memory=memory),
        search=Search(ordered=chosen.ordered, n_jobs=n_jobs),
    )  # fmt: skip
    with own_threads():
        refined = _refine(found, vectors, {name: place(clouds[name], where) for name in found.maps}, chosen)
    kept = {name: vectors[name] if keep is None else vectors[name].first(keep) for name in found.maps}
    solved = {name: to_numpy(one) for name, one in found.maps.items()}
    return Hub(kept, {name: prepared[name] for name in kept}, solved, refined, found.pairs, found.unrelated, chosen)


def _is_plain(chosen: Recipe) -> bool:
    """Return whether the solve of a recipe is one that many vocabularies can have in common."""
    free = chosen.schedule is None and chosen.overlap is None
    return free and chosen.start == "auto" and chosen.p == float("inf") and len(chosen.stages) == 1


def _refine(
    found: ManyAlignment, vectors: Mapping[str, Vectors], clouds: Mapping[str, Array], chosen: Recipe
) -> dict[str, Floats]:
    """Refine all maps on the first words; if there are many, first on the most frequent third."""
    names = list(found.maps)
    if not names or not chosen.rounds:
        return {name: to_numpy(one) for name, one in found.maps.items()}
    most = min(chosen.refine_words, max(clouds[name].shape[0] for name in names))
    trust = [refine.find_trust(vectors[name], clouds[name]) for name in names]
    maps: list[Array] = [as_like(found.maps[name], clouds[name]) for name in names]
    fewest = min(clouds[name].shape[0] for name in names)
    loose = refine.weigh_one_sided(max(one.shape[0] for one in maps), min(most, fewest))
    for count, weight in ((most // 3, 0.0), (most, loose))[most < refine.MANY_WORDS :]:
        few = [clouds[name][:count] for name in names]
        maps, _ = refine_many(few, maps, rounds=chosen.rounds, trust=[one[:count] for one in trust], loose=weight)
    return {name: to_numpy(one) for name, one in zip(names, maps, strict=True)}
