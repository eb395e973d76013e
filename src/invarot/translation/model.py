"""A learned translation: two vocabularies, the steps that bring them together, and the evidence."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..alignment.verdict import Verdict
from ..arrays import to_numpy, unit_rows
from ..checks import check_choice, check_count, check_points
from ..errors import InputError, NotTrusted
from ..words.dictionaries import list_pairs, read_dictionary
from ..words.vectors import Vectors
from .lookup import find_gold, find_lacking, find_rows, find_translations, score_translations
from .pipeline import find_applied, map_known, map_new
from .recipe import Recipe
from .steps.shape import SIDES, Side, StepRecord

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Translation:
    """The result of :func:`invarot.translation.learn`.

    Attributes
    ----------
    source, target : Vectors
        The vocabularies, as they were read.
    steps : tuple of StepRecord
        Every step in order: whether it was applied and why not, and what it fitted.
    verdict : Verdict
        The verdict of the solve.
    recipe : Recipe
        The settings.
    history : list of dict
        One row per step of the solver and per round of refinement.
    settings : dict
        Where and on how many words it ran.
    """

    source: Vectors
    target: Vectors
    steps: tuple[StepRecord, ...]
    verdict: Verdict
    recipe: Recipe
    history: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def clouds(self) -> tuple[Floats, Floats]:
        """Both vocabularies in the common space, (n, d) and (m, d); computed once."""
        x, y = (to_numpy(map_known(self.steps, getattr(self, side), side)) for side in SIDES)
        return x, y

    @property
    def source_map(self) -> Floats:
        """The map from the prepared source space to the common one, (dx, d)."""
        return self._find_map("source")

    @property
    def target_map(self) -> Floats:
        """The map from the prepared target space to the common one, (dy, d)."""
        return self._find_map("target")

    @property
    def seconds(self) -> dict[str, float]:
        """The time that each step took."""
        return {step.name: step.seconds for step in self.steps}

    @property
    def overlap(self) -> tuple[float, float] | None:
        """The estimated shares of the source and target words that have a translation; None: not asked for."""
        found = self.settings.get("overlap")
        return None if found is None else (float(found[0]), float(found[1]))

    def find_untranslated(self, *, reverse: bool = False) -> list[str]:
        """Return the source words (target words if ``reverse``) without a translation, in order; none without ``overlap``.

        As many as the overlap of the solve says: those whose best translation scores lowest, by CSLS.
        """
        lacking = self._untranslated["target" if reverse else "source"]
        words = (self.target if reverse else self.source).words
        return [words[row] for row in np.flatnonzero(lacking)]

    @cached_property
    def _untranslated(self) -> dict[str, np.ndarray[Any, np.dtype[np.bool_]]]:
        x, y = self.clouds
        left, right = self.overlap or (1.0, 1.0)
        return {"source": find_lacking(x, y, left), "target": find_lacking(y, x, right)}

    def translate(
        self, words: str | Iterable[str], *, k: int = 5, method: str = "csls", reverse: bool = False, all: bool = False
    ) -> dict[str, list[tuple[str, float]]]:
        """Find the ``k`` best translations of one word or several; warn if the model is not aligned.

        Parameters
        ----------
        words : str or iterable of str
            A word that is not in the vocabulary is an error.
        k : int
            Translations per word.
        method : {"csls", "cosine", "inverted-softmax"}
            How candidates are scored.
        reverse : bool
            Translate from the target to the source.
        all : bool
            Also words without a translation get the nearest ones; else, in a model learned with ``overlap``, an empty list.

        Returns
        -------
        dict
            Word -> [(translation, score), …], best first.
        """
        check_count(k, "k")
        if not self.verdict:
            warnings.warn(
                f"the verdict of this model is {self.verdict.word}: expect translations to be wrong",
                NotTrusted,
                stacklevel=2,
            )
        asked = [words] if isinstance(words, str) else list(words)
        if not asked:
            return {}
        source, target = (self.target, self.source) if reverse else (self.source, self.target)
        rows = find_rows(asked, source)
        forced = all or self.overlap is None
        lacking = set() if forced else set(self.find_untranslated(reverse=reverse))
        x, y = self.clouds[::-1] if reverse else self.clouds
        return find_translations(x, y, rows, asked, target.words, k=k, method=method, lacking=lacking)

    def dictionary(self, count: int, *, k: int = 1, method: str = "csls") -> list[tuple[str, list[tuple[str, float]]]]:
        """Translate the first ``count`` source words; ``k`` and ``method`` as in `translate`."""
        words = self.source.words[: check_count(count, "count")]
        return list(self.translate(words, k=k, method=method).items())

    def evaluate(
        self,
        dictionary: str | os.PathLike[str] | Sequence[tuple[str, str]] | Mapping[str, Any],
        *,
        method: str = "csls",
        reverse: bool = False,
    ) -> dict[str, Any]:
        """Score the translations against a dictionary.

        Parameters
        ----------
        dictionary : path, list of pairs, or a dict from words to a translation or several
        method : {"csls", "cosine", "inverted-softmax"}
        reverse : bool
            The dictionary is from target to source.

        Returns
        -------
        dict
            precision@1, precision@5, precision@10, mrr, coverage, queries and retrieval.
        """
        pairs = read_dictionary(dictionary) if isinstance(dictionary, (str, os.PathLike)) else list_pairs(dictionary)
        source, target = (self.target, self.source) if reverse else (self.source, self.target)
        gold = find_gold(pairs, source, target)
        x, y = self.clouds[::-1] if reverse else self.clouds
        return score_translations(x, y, gold, method=method)

    def mapped(self) -> tuple[Vectors, Vectors]:
        """Return both sides as word vectors of the common space, of unit length, to be written to files."""
        x, y = (to_numpy(unit_rows(z)).astype(np.float32) for z in self.clouds)
        return Vectors(self.source.words, x, self.source.source), Vectors(self.target.words, y, self.target.source)

    def map_new_words(self, vectors: Any, *, words: Sequence[str] | None = None, side: str = "source") -> Floats:
        """Map vectors of words outside the vocabulary to the common space.

        Parameters
        ----------
        vectors : array (n, dx) or (n, dy)
            As they are read.
        words : n strings, optional
            Needed if the model uses spelling. With a rank penalty, unknown words count as rarer than all known ones.
        side : {"source", "target"}

        Returns
        -------
        array (n, d)
        """
        check_choice(side, "side", SIDES)
        whose: Side = "target" if side == "target" else "source"
        vectors = to_numpy(check_points(vectors, "vectors", least=1))
        spelled = any(step.name == "spelling" for step, _ in find_applied(self.steps))
        if spelled if words is None else len(words) != len(vectors):
            why = ", since the model uses spelling" if spelled else ""
            came = "none" if words is None else len(words)
            raise InputError(f"words: expected the {len(vectors)} words of the vectors{why}, got {came}; pass words=")
        return to_numpy(map_new(self.steps, (self.source, self.target), vectors, whose, words))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the translation to a folder; :func:`invarot.translation.load` reads it back."""
        from .storage import save

        save(self, path)

    def _find_map(self, side: Side) -> Floats:
        return next(
            record.arrays[f"{side}_map"]
            for _, record in reversed(find_applied(self.steps))
            if f"{side}_map" in record.arrays
        )

    def __str__(self) -> str:
        width = max(len(step.name) for step in self.steps)
        lines = [f"Translation of {len(self.source)} source words into {len(self.target)} target words"]
        lines.append(f"  {'verdict':<{width}}  {self.verdict}")
        if self.overlap is not None:
            shares = "{:.0%} of the source words and {:.0%} of the target words".format(*self.overlap)
            lines.append(f"  {'overlap':<{width}}  {shares} have a translation")
        lines += [f"  {step.name:<{width}}  {step.status}" for step in self.steps]
        return "\n".join(lines)

    def __repr__(self) -> str:
        words = f"{len(self.source):,} source words into {len(self.target):,} target words"
        return f"Translation of {words}: {self.verdict.word} (probability {self.verdict.probability:.2f})"

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        dictionary: str | os.PathLike[str] | Sequence[tuple[str, str]] | None = None,
        overwrite: bool = True,
    ) -> None:
        """Write one self-contained HTML page: the verdict, both spaces to search and click, all translations.

        Parameters
        ----------
        path : path
            The HTML file, or "-" for standard output.
        dictionary : path or list of pairs, optional
            Used only to score the translations and to mark the listed ones.
        overwrite : bool
            Whether an existing file may be replaced.
        """
        from ..report.page import write_page

        write_page(self, path, dictionary=dictionary, overwrite=overwrite)
