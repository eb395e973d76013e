"""Many vocabularies in one space: the same pipeline as for two, with all pairs at once."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..alignment.many import align_many
from ..alignment.many_result import ManyAlignment, Pair
from ..alignment.options import Search, Sinkhorn
from ..alignment.verdict import WORDS
from ..arrays import Array, as_like, place, to_numpy
from ..checks import check_choice, check_count, check_rng
from ..errors import InputError
from ..folders import HUB, building, read_folder, write_folder
from ..retrieval.pairs import matches
from ..schema import check, check_arrays
from ..threads import own_threads
from ..words.preprocessing import Preprocessing
from ..words.vectors import Vectors
from .joint import refine_many
from .learn import FEWEST, check_device, read_checked
from .model import Translation
from .pipeline import FINISHING, fit_steps
from .progress import Progress
from .recipe import Recipe, recipe
from .steps import prepare, refine, solve
from .steps.pooling import POOLING, Neighbours, fit_pooling
from .steps.shape import SIDES, StepRecord, Work

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Hub:
    """The result of :func:`learn_many`: vocabularies with one map each into a common space.

    Attributes
    ----------
    vectors : dict of name to Vectors
        The vocabularies that have a map, as they were read.
    prepared : dict of name to Preprocessing
    solved, refined : dict of name to (di, d) arrays
        The maps before and after the refinement.
    pairs : tuple of Pair
        Every two vocabularies, with the verdict on the map between them.
    unrelated : tuple of str
        Vocabularies that correspond to none of the others.
    recipe : Recipe
    """

    vectors: dict[str, Vectors]
    prepared: dict[str, Preprocessing]
    solved: dict[str, Floats]
    refined: dict[str, Floats]
    pairs: tuple[Pair, ...]
    unrelated: tuple[str, ...]
    recipe: Recipe

    def mapped(self, name: str) -> Vectors:
        """Return a vocabulary in the common space."""
        words = self.vectors[self._known(name)]
        rows = to_numpy(self.prepared[name].apply(np.ascontiguousarray(words.vectors, np.float32)))
        return Vectors(words.words, rows @ self.refined[name], words.source)

    def pair(self, source: str, target: str, *, device: str | None = None) -> Translation:
        """Return the translation between two of the vocabularies, with the finishing steps of the recipe fitted to them."""
        names = dict(zip(SIDES, (self._known(source), self._known(target)), strict=True))
        verdict = next(one.verdict for one in self.pairs if {one.first, one.second} == {source, target})
        where = check_device(device)
        records = [
            StepRecord(
                prepare.NAME, True, ", ".join(self.recipe.prepare), values={"prepare": list(self.recipe.prepare)},
                arrays={f"{side}_{key}": mean for side, name in names.items() for key, mean in self.prepared[name].arrays().items()},
            ),
            *(
                StepRecord(name, True, "in the common space of all vocabularies",
                           arrays={f"{side}_map": maps[of] for side, of in names.items()})
                for name, maps in ((solve.NAME, self.solved), (refine.NAME, self.refined))
            ),
        ]  # fmt: skip
        x, y = (place(self._placed[name], where) for name in names.values())
        left, right = (self.vectors[name] for name in names.values())
        work = Work(source=left, target=right, x=x, y=y, recipe=self.recipe, device=where, progress=Progress())
        others = [name for name in self.vectors if name not in (source, target)]
        near = [[self._find_neighbours(name, other, where) for other in others] for name in names.values()]
        pooling = replace(POOLING, fit=partial(fit_pooling, source=near[0], target=near[1]))
        finished, _ = fit_steps((pooling, *FINISHING) if others else FINISHING, work)
        settings = {"fitted_words": [len(left), len(right)], "device": where, "rng": None}
        return Translation(left, right, (*records, *finished), verdict, self.recipe, [], settings)

    @cached_property
    def _placed(self) -> dict[str, Floats]:
        return {name: self.mapped(name).vectors for name in self.vectors}

    @cached_property
    def _matched(self) -> dict[tuple[str, str], tuple[Floats, Floats]]:
        return {}

    def _find_neighbours(self, name: str, other: str, device: str) -> Neighbours:
        """Return the mutual neighbours of a vocabulary in another one, searched once for both directions."""
        first, second = sorted((name, other))
        if (first, second) not in self._matched:
            left, right, _ = matches(*(place(self._placed[one], device) for one in (first, second)))
            self._matched[first, second] = to_numpy(left), to_numpy(right)
        rows, near = self._matched[first, second]
        rows, near = (rows, near) if name == first else (near, rows)
        return Neighbours(other, rows, near, self._placed[other])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the hub to a folder; :func:`load_hub` reads it back."""
        arrays: dict[str, Floats] = {}
        for number, (name, words) in enumerate(self.vectors.items()):
            arrays[f"{number}.vectors"] = words.vectors
            arrays[f"{number}.words"] = np.frombuffer(json.dumps(words.words).encode("ascii"), dtype=np.uint8)
            arrays[f"{number}.solved"], arrays[f"{number}.refined"] = self.solved[name], self.refined[name]
            arrays.update({f"{number}.{key}": mean for key, mean in self.prepared[name].arrays().items()})
        facts = {
            "names": list(self.vectors),
            "sources": [words.source for words in self.vectors.values()],
            "pairs": [_describe_pair(pair) for pair in self.pairs],
            "unrelated": list(self.unrelated),
            "recipe": self.recipe.as_dict(),
        }
        write_folder(path, HUB, arrays, facts)

    def _known(self, name: str) -> str:
        if name in self.unrelated:
            raise InputError(f"name: expected a vocabulary with a map, got {name!r}, which is unrelated to the others")
        return check_choice(name, "name", self.vectors)


def _describe_pair(pair: Pair) -> dict[str, Any]:
    return {**vars(pair), "verdict": pair.verdict.as_dict(), "status": pair.status.name}


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
        With ``start="auto"``, p = inf, no schedule and one stage.
    rng, device, memory, keep
        As in :func:`invarot.translation.learn`.
    n_jobs : int
        Pairs solved at a time (extra: jobs).

    Returns
    -------
    Hub
    """
    chosen = recipe(how) if isinstance(how, str) else how
    if (
        not isinstance(chosen, Recipe)
        or chosen.start != "auto"
        or chosen.p != float("inf")
        or chosen.schedule is not None
    ):
        raise InputError(
            f"how: expected a recipe with start='auto', p=inf and no schedule, such as \"best\", got {how!r}"
        )
    if not isinstance(sources, Mapping) or len(sources) < 2:
        raise InputError(f"sources: expected a dict of at least two vocabularies, got {type(sources).__name__}")
    where = check_device(device)
    vectors = {str(name): read_checked(one, str(name)) for name, one in sources.items()}
    if keep is not None:
        check_count(keep, "keep", low=FEWEST)
    prepared, clouds = {}, {}
    for name, words in vectors.items():
        prepared[name], rows = Preprocessing(chosen.prepare).fit_apply(np.ascontiguousarray(words.vectors, np.float32))
        clouds[name] = to_numpy(rows)
    found = align_many(
        {name: clouds[name][solve.select_words(words)[: chosen.stages[-1]]] for name, words in vectors.items()},
        effort=chosen.effort, device=where, rng=check_rng(rng), solver=Sinkhorn(tol=solve.TOL, memory=memory),
        search=Search(ordered=chosen.ordered, n_jobs=n_jobs),
    )  # fmt: skip
    with own_threads():
        refined = _refine(found, vectors, {name: place(clouds[name], where) for name in found.maps}, chosen)
    kept = {name: vectors[name] if keep is None else vectors[name].first(keep) for name in found.maps}
    solved = {name: to_numpy(one) for name, one in found.maps.items()}
    return Hub(kept, {name: prepared[name] for name in kept}, solved, refined, found.pairs, found.unrelated, chosen)


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
    for count, weight in ((most // 3, 0.0), (most, loose))[most < refine.MANY :]:
        few = [clouds[name][:count] for name in names]
        maps, _ = refine_many(few, maps, rounds=chosen.rounds, trust=[one[:count] for one in trust], loose=weight)
    return {name: to_numpy(one) for name, one in zip(names, maps, strict=True)}


def load_hub(path: str | os.PathLike[str]) -> Hub:
    """Load the hub saved in the folder ``path``."""
    arrays, facts = read_folder(path, HUB)
    with building(path, HUB):
        names = check(list[str], facts.get("names"), "names")
        sources = check(list[str], facts.get("sources"), "sources")
        chosen = Recipe.from_dict(check(dict[str, Any], facts.get("recipe"), "recipe"))
        pairs = tuple(check(list[Pair], facts.get("pairs"), "pairs"))
        unrelated = tuple(check(list[str], facts.get("unrelated"), "unrelated"))
        everyone = {*names, *unrelated}
        if len(sources) != len(names) or any({pair.first, pair.second} - everyone for pair in pairs):
            raise InputError("names, sources, pairs: expected one source per name and no other names in pairs")
        for pair in pairs:
            check_choice(pair.verdict.word, "verdict.word", WORDS)
        means = [f"mean_{k}" for k in range(chosen.prepare.count("center"))]
        shapes = {}
        for number in range(len(names)):
            shapes.update({f"{number}.vectors": f"h n{number} d{number}", f"{number}.words": f"i w{number}"})
            shapes.update({f"{number}.solved": f"f d{number} d", f"{number}.refined": f"f d{number} d"})
            shapes.update({f"{number}.{mean}": f"f d{number}" for mean in means})
        check_arrays(arrays, shapes)
        vectors, prepared = {}, {}
        for number, name in enumerate(names):
            words = check(tuple[str, ...], json.loads(arrays[f"{number}.words"].tobytes()), "words")
            vectors[name] = Vectors(words, arrays[f"{number}.vectors"], sources[number])
            prepared[name] = Preprocessing(chosen.prepare, tuple(arrays[f"{number}.{mean}"] for mean in means))
        solved, refined = (
            {name: arrays[f"{number}.{part}"] for number, name in enumerate(names)} for part in ("solved", "refined")
        )
        return Hub(vectors, prepared, solved, refined, pairs, unrelated, chosen)
