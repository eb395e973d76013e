"""From two vocabularies to a translation: the steps of the pipeline, one after the other."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import check_count, check_flag, check_known, check_rng
from ..errors import InputError
from ..logs import run
from ..words.readers import read_vectors
from ..words.vectors import Vectors
from .checkpoint import Checkpoint
from .model import Translation
from .pipeline import FINISHING, PIPELINE, fit_steps, map_known
from .progress import Listener, Progress
from .recipe import Recipe, change_recipe, take_recipe
from .steps.shape import SIDES, Work

FEWEST_WORDS = 10  # words per side
Pairs = tuple[tuple[str, str], ...]


def learn(
    source: Any,
    target: Any,
    *,
    how: Recipe | str = "best",
    seeds: Sequence[tuple[str, str]] | Mapping[str, str] | None = None,
    rng: int | np.random.Generator = 0,
    device: str | None = None,
    memory: str | int | None = None,
    keep: int | None = None,
    dictionary: Sequence[tuple[str, str]] | None = None,
    on_event: Listener | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Translation:
    """Learn to translate between two vocabularies with no dictionary.

    Parameters
    ----------
    source, target : Vectors, path or gensim ``KeyedVectors``
        Any input of :func:`invarot.words.read_vectors`; most frequent words first, unless the recipe has ``ordered=False``.
    how : Recipe or {"best", "fast", "paper"}
        The settings of every step; see :func:`invarot.translation.recipe`.
    seeds : pairs of words or dict, optional
        Known translations. They start the solve and stay in it as a linear term, as in :func:`invarot.align`.
    rng : int or numpy.random.Generator
        Same rng, same answer.
    device : {"cpu", "cuda", "cuda:1", "auto"}, optional
        Where it is learned ("auto": on a CUDA device if there is one); by default on the CPU.
    memory : str or int, optional
        Memory limit of the plan step, as in :func:`invarot.align`.
    keep : int, optional
        Words per side that stay in the model, the first ones; the others only help to fit it. By default all.
    dictionary : pairs of words, optional
        Accuracy on it is recorded in the history after each stage, round and step; it is not used for learning.
    on_event : callable, optional
        Called with a dict, ``stage`` and what was measured, after each step of the solver and round of refinement.
    checkpoint : path, optional
        Folder where finished stages of the solve are saved; a run that was stopped resumes from there.
    progress : bool
        Show the log on standard error, as :func:`invarot.show_progress` does.

    Returns
    -------
    Translation

    Examples
    --------
    >>> from invarot.words import load_core_pair
    >>> from invarot.translation import learn
    >>> english, spanish, gold = load_core_pair()
    >>> model = learn(english.first(800), spanish.first(800), how="fast")
    >>> print(model.steps[1])
    solve: the first 800 words per side (2,500 asked for); start auto, effort normal, p = inf
    >>> print(model.steps[5])
    penalties: not applied: match_penalty and rank_penalty are 0 in the recipe
    """
    chosen, known = take_recipe(how), _check_seeds(seeds)
    where = check_device(device)
    check_flag(progress, "progress")
    source, target = read_checked(source, "source"), read_checked(target, "target")
    if keep is not None:
        check_count(keep, "keep", low=FEWEST_WORDS)
    work = Work(
        source=source, target=target, x=source.vectors, y=target.vectors, recipe=chosen, rng=check_rng(rng), device=where,
        memory=memory, keep=keep, progress=Progress(on_event, dictionary),
        checkpoint=_open_checkpoint(checkpoint, source, target, chosen, rng, known), seeds=known,
    )  # fmt: skip
    with run(progress=progress):
        records, work = fit_steps(PIPELINE, work)
    assert work.alignment is not None
    settings = {
        "fitted_words": [len(source), len(target)],
        "seeds": len(known),
        "device": where,
        "rng": int(rng) if isinstance(rng, (int, np.integer)) else None,
    }
    if work.alignment.overlap is not None:
        settings["overlap"] = [round(share, 4) for share in work.alignment.overlap]
    return Translation(
        work.source, work.target, records, work.alignment.verdict, chosen, work.progress.history, settings
    )


def adjust(model: Translation, *, device: str | None = None, **changes: Any) -> Translation:
    """Change the finishing steps of a learned translation; its maps are unchanged.

    Parameters
    ----------
    model : Translation
    device : {"cpu", "cuda", "cuda:1", "auto"}, optional
        Where the steps are fitted; by default on the CPU.
    **changes
        ``local_centring``, ``spelling``, ``match_penalty``, ``rank_penalty``: as in :class:`invarot.translation.Recipe`.

    Returns
    -------
    Translation

    Examples
    --------
    >>> from invarot.words import load_core_pair
    >>> from invarot.translation import adjust, learn, recipe
    >>> english, spanish, gold = load_core_pair()
    >>> model = learn(english.first(300), spanish.first(300), how=recipe("fast", start="signature"))
    >>> print(adjust(model, spelling=0.6).steps[4])
    spelling: weight 0.6, 512 coordinates
    """
    check_known(changes, [name for step in FINISHING for name in step.fields], "adjust")
    if not changes:
        return model
    chosen = change_recipe(model.recipe, changes, "adjust")
    first = next(step for step in FINISHING if not changes.keys().isdisjoint(step.fields))
    kept = model.steps[: [record.name for record in model.steps].index(first.name)]
    where = check_device(device)
    x, y = (map_known(kept, getattr(model, side), side, device=where) for side in SIDES)
    work = Work(source=model.source, target=model.target, x=x, y=y, recipe=chosen, device=where, progress=Progress())
    records, _ = fit_steps(PIPELINE[PIPELINE.index(first) :], work)
    return replace(model, steps=(*kept, *records), recipe=chosen)


def check_device(device: Any) -> str:
    """Return where to compute; None is the CPU."""
    if device is None:
        return "cpu"
    if not isinstance(device, str):
        raise InputError(f'device: expected "cpu", "cuda", "cuda:N", "auto" or None, got {device!r}; None is the CPU')
    return device


def read_checked(value: Any, name: str) -> Vectors:
    vectors = read_vectors(value)
    if len(vectors) < FEWEST_WORDS:
        raise InputError(f"{name}: expected at least {FEWEST_WORDS} words, got {len(vectors)}; read more of them")
    return vectors


def _check_seeds(seeds: Any) -> Pairs:
    """Return known pairs of words; whether they are in the vocabularies is seen in the solve."""
    if seeds is None:
        return ()
    pairs = tuple(seeds.items() if isinstance(seeds, Mapping) else seeds)
    for one in pairs or ("none",):
        if isinstance(one, str) or len(one) != 2 or not all(isinstance(word, str) for word in one):
            raise InputError(
                f'seeds: expected pairs of words, such as [("dog", "perro")], got {one!r}; leave it out for none'
            )
    return tuple((left, right) for left, right in pairs)


def _open_checkpoint(
    folder: str | os.PathLike[str] | None, source: Vectors, target: Vectors, chosen: Recipe, rng: Any, seeds: Pairs
) -> Checkpoint | None:
    if folder is None:
        return None
    if not isinstance(rng, (int, np.integer)):
        raise InputError(
            "rng: expected a whole number with a checkpoint, got a Generator, which cannot be compared with that of an "
            "earlier run; pass a seed"
        )
    return Checkpoint(folder, source, target, chosen, int(rng), seeds)
