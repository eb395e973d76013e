"""Many vocabularies in one space, and the translation between any two of them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..alignment.many_result import Pair
from ..alignment.verdict import WORDS
from ..arrays import place, to_numpy
from ..checks import check_choice
from ..errors import InputError
from ..folders import HUB, building, read_folder, write_folder
from ..retrieval.pairs import matches
from ..schema import check, check_arrays
from ..words.preprocessing import Preprocessing
from ..words.vectors import Vectors
from .learn import check_device
from .model import Translation
from .pipeline import FINISHING, fit_steps
from .progress import Progress
from .recipe import Recipe
from .steps import prepare, refine, solve
from .steps.pooling import POOLING, Neighbours, fit_pooling
from .steps.shape import SIDES, StepRecord, Work

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Hub:
    """The result of :func:`invarot.translation.learn_many`: vocabularies with one map each into a common space.

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
        """Write the hub to a folder; :func:`invarot.translation.load_hub` reads it back."""
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
            raise InputError(
                f"name: expected a vocabulary with a map, got {name!r}, which is unrelated to the others; "
                f"those with a map: {', '.join(self.vectors)}"
            )
        return check_choice(name, "name", self.vectors)


def _describe_pair(pair: Pair) -> dict[str, Any]:
    return {**vars(pair), "verdict": pair.verdict.as_dict(), "status": pair.status.name}


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
            raise InputError(
                "names, sources, pairs: expected one source per name and no other names in pairs, got others; save it again"
            )
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
