"""A learned translation: two vocabularies, the maps that bring them together, and the evidence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..alignment.verdict import Verdict
from ..arrays import Array, place, to_numpy
from ..checks import check_number
from ..errors import InputError
from ..retrieval.metrics import Accuracy, evaluate
from ..retrieval.neighbours import neighbours
from ..retrieval.scores import unit_rows
from ..words.dictionaries import Gold, read_dictionary
from ..words.preprocessing import Preprocessing
from ..words.spelling import SIZE, SPELLING, add_spelling, usable_weight
from ..words.vectors import Vectors
from .surroundings import set_off, surroundings
from .taken import CONSTANT, RANKED, best_matches, enough, hold_back, rarity

SHORTLIST = 200  # nearest by cosine that a few words' translations are chosen among
UNSAID = 256  # coordinates of spelling in models that do not say how many

Floats = np.ndarray[Any, Any]
Ints = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Translation:
    """What :func:`invarot.translation.learn` found.

    Attributes
    ----------
    source, target : Vectors
        As they were read.
    prepare_source, prepare_target : Preprocessing
        Fitted; new words are treated alike.
    source_map, target_map : (dx, d) and (dy, d)
        From the preprocessed spaces to the common one.
    verdict : of the solve
    history : list of dicts, a row a step: the starts' race, each stage, each round of refinement
    settings : the recipe and where it ran
    source_near, target_near : (n, k) and (m, k), or None
        Rows of each word's neighbours in its own language; ``settings["local"]`` of their mean is taken off the word in
        the common space.
    source_best, target_best : (n,) and (m,), or None
        Cosine of each word to the nearest of the other language; ``settings["taken"]`` of it holds the word back.
    """

    source: Vectors
    target: Vectors
    prepare_source: Preprocessing
    prepare_target: Preprocessing
    source_map: Floats
    target_map: Floats
    verdict: Verdict
    history: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    source_near: Ints | None = None
    target_near: Ints | None = None
    source_best: Floats | None = None
    target_best: Floats | None = None

    def common(self, *, reverse: bool = False) -> tuple[Floats, Floats]:
        """Both vocabularies in the common space, (n, d) and (m, d): from, to."""
        x, y = (
            self._held_back(self._own(target=target), best, rarity(len(side)), target=target)
            for side, best, target in ((self.source, self.source_best, False), (self.target, self.target_best, True))
        )
        return (y, x) if reverse else (x, y)

    def bring(self, vectors: Floats, *, words: Sequence[str] | None = None, target: bool = False) -> Floats:
        """Vectors of new words of the source (or the target), as they are read, in the common space: (n, d).

        A model that goes by spelling too needs the ``words``. Where rare words are held back, words that are not known, or
        not named, count as rarer than all that are.
        """
        new, share = self._mapped(vectors, target=target), self._share("local")
        if (self.target_near if target else self.source_near) is not None:
            known = self._mapped((self.target if target else self.source).vectors, target=target)
            new = to_numpy(set_off(new, surroundings(new, known), share, known))
        weight = self._share("spelling")
        if weight if words is None else len(words) != len(vectors):
            why = ", since the model goes by spelling too" if weight else ""
            came = "none" if words is None else len(words)
            raise InputError(f"words: expected the {len(vectors)} words of the vectors{why}, got {came}")
        new = to_numpy(self._spelled(new, words or ()))
        best = None
        if self.source_best is not None:
            other = unit_rows(self._own(target=not target))
            best = to_numpy(neighbours(new, other, method="cosine", k=1)[1])[:, 0]
        side = self.target if target else self.source
        rows = np.full(len(vectors), len(side))
        if words is not None:
            ranks = side.index()
            rows = np.asarray([ranks.get(word, len(side)) for word in words], dtype=np.int64)
        return self._held_back(new, best, rarity(len(side), rows), target=target)

    def spelled(self, weight: float = SPELLING, *, device: str = "cpu") -> Translation:
        """The same translation going by spelling as well, with this weight beside the vectors' 1; 0: by them alone.

        Meant for languages that share an alphabet and many words; between others the weight is 0. Nothing is learned anew.
        """
        weight = usable_weight(check_number(weight, "weight", low=0), self.source.words, self.target.words)
        settings = {**self.settings, "spelling": weight, "spelling_size": SIZE}
        changed = replace(self, settings=settings, source_best=None, target_best=None)
        if self.source_best is None:
            return changed
        return changed.with_best(device=device)

    def with_best(self, *, device: str = "cpu") -> Translation:
        """The same translation with the best match of every word looked up, so that words that are taken are held back."""
        best = best_matches(self._own(target=False, device=device), self._own(target=True, device=device))
        if best is None:
            return self
        return replace(self, source_best=to_numpy(best[0]), target_best=to_numpy(best[1]))

    def _share(self, name: str) -> float:
        return float(self.settings.get(name, 0.0))

    def _own(self, *, target: bool, device: str = "cpu") -> Any:
        """One side in the common space as far as it can be told without the other."""
        side, near = (self.target, self.target_near) if target else (self.source, self.source_near)
        z: Array = place(self._mapped(side.vectors, target=target), device)
        return self._spelled(set_off(z, near, self._share("local")), side.words)

    def _spelled(self, z: Array, words: Sequence[str]) -> Array:
        size = int(self.settings.get("spelling_size", UNSAID))
        return add_spelling(z, words, self._share("spelling"), size=size)

    @property
    def rare(self) -> float:
        """How far rare words are held back in this model: ``settings["rare"]``, where its words are ordered and enough."""
        sizes = len(self.source), len(self.target)
        usable = self.settings.get("ordered") and enough(*sizes)
        return self._share("rare") if usable and max(sizes) <= self.settings.get("refine_words", 0) else 0.0

    def _held_back(self, z: Floats, best: Floats | None, rare: Floats, *, target: bool) -> Floats:
        known = self.target_best if target else self.source_best
        taken = 0.0 if known is None else self._share("taken")
        if not taken and not self.rare:
            return z
        held = self.rare * rare
        if best is not None and known is not None:
            held = held + taken * (best - known.mean())
        constant = RANKED if self.rare else CONSTANT
        return to_numpy(hold_back(z, held.astype(z.dtype), target=target, constant=constant))

    def _mapped(self, vectors: Floats, *, target: bool) -> Floats:
        prepare, turn = (self.prepare_target, self.target_map) if target else (self.prepare_source, self.source_map)
        return to_numpy(prepare.apply(vectors)) @ turn

    def translate(
        self, words: str | Iterable[str], *, k: int = 5, method: str = "csls", reverse: bool = False
    ) -> dict[str, list[tuple[str, float]]]:
        """The ``k`` best translations of a word, or of each of several, with their scores; an unknown word is an error that names it."""
        asked = [words] if isinstance(words, str) else list(words)
        if not asked:
            return {}
        source, target = (self.target, self.source) if reverse else (self.source, self.target)
        rows = source.index()
        unknown = [word for word in asked if word not in rows]
        if unknown:
            raise InputError(
                f"words: not in the vocabulary of {len(source)} words: {', '.join(unknown[:5])}"
                f"{' …' if len(unknown) > 5 else ''}"
            )
        x, y = self.common(reverse=reverse)
        queries = np.asarray([rows[word] for word in asked], dtype=np.int64)
        found, scores = neighbours(x, y, method=method, k=min(k, len(target)), queries=queries, shortlist=SHORTLIST)
        found, scores = to_numpy(found), to_numpy(scores)
        return {
            word: [(target.words[j], float(score)) for j, score in zip(found[i], scores[i], strict=True)]
            for i, word in enumerate(asked)
        }

    def dictionary(self, count: int, *, k: int = 1, method: str = "csls") -> list[tuple[str, list[tuple[str, float]]]]:
        """Translations of the first ``count`` source words."""
        words = self.source.words[:count]
        return list(self.translate(words, k=k, method=method).items())

    def evaluate(
        self,
        dictionary: str | os.PathLike[str] | Sequence[tuple[str, str]],
        *,
        method: str = "csls",
        reverse: bool = False,
    ) -> dict[str, Any]:
        """precision@1, @5, @10, mrr, coverage, queries and retrieval, against a dictionary file or list of pairs."""
        pairs = read_dictionary(dictionary) if isinstance(dictionary, (str, os.PathLike)) else list(dictionary)
        source, target = (self.target, self.source) if reverse else (self.source, self.target)
        gold = Gold.from_pairs(pairs, source.words, target.words)
        if not gold.queries:
            raise InputError(
                f"dictionary: none of its {gold.listed} source words, with a translation, is in the vocabularies; "
                "is it the right direction?"
            )
        x, y = self.common(reverse=reverse)
        return report_scores(evaluate(x, y, gold.targets, method=method), gold)

    def mapped(self) -> tuple[Vectors, Vectors]:
        """Both sides as word vectors of the common space, unit length, ready to be written."""
        x, y = self.common()
        return Vectors(self.source.words, _unit(x), self.source.source), Vectors(
            self.target.words, _unit(y), self.target.source
        )


def report_scores(found: Accuracy, gold: Gold) -> dict[str, Any]:
    return {
        **{f"precision@{k}": value for k, value in found.precision.items()},
        "mrr": found.mrr,
        "coverage": gold.coverage,
        "queries": found.queries,
        "retrieval": found.method,
    }


def _unit(x: Floats) -> Floats:
    return to_numpy(unit_rows(x)).astype(np.float32)
