"""The pairs of vocabularies of the translation table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..errors import InputError
from ..words import Gold, Preprocessing, Vectors, load_core_pair, read_dictionary, read_vectors
from .run import Context

EUROPARL_WORDS = 20_000
MUSE_WORDS = 200_000
LANGUAGES = ("es", "fr", "de", "it", "ru")


@dataclass(frozen=True)
class Pair:
    """Both sides preprocessed, pairs of rows for training, and the gold list for testing."""

    x: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    train: list[tuple[int, int]]
    gold: Gold


@dataclass(frozen=True)
class Task:
    name: str
    load: Callable[[], Pair]


def find_tasks(context: Context) -> list[Task]:
    """Return the tasks: Europarl with ``--data``, MUSE's files with ``--muse``, else the built-in pair."""
    if context.data is not None:
        return _tasks(context.data / "europarl100", context.data / "muse", "{code}.npz", EUROPARL_WORDS, "--data")
    if context.muse is not None:
        return _tasks(context.muse, context.muse / "dictionaries", "wiki.{code}.vec", MUSE_WORDS, "--muse")
    words = 1000 if context.quick else 5000
    return [
        Task("en-es (core)", partial(core_pair, words, False)),
        Task("es-en (core)", partial(core_pair, words, True)),
    ]


def core_pair(words: int, reverse: bool) -> Pair:
    """Load the built-in pair; a random half of the gold list is for training, the other half for testing."""
    source, target, pairs = load_core_pair()
    if reverse:
        source, target, pairs = target, source, [(right, left) for left, right in pairs]
    source, target = source.first(words), target.first(words)
    asked = sorted({left for left, _ in pairs})
    chosen = set(np.random.default_rng(0).permutation(asked)[: len(asked) // 2].tolist())
    train = Gold.from_pairs([pair for pair in pairs if pair[0] in chosen], source.words, target.words)
    test = Gold.from_pairs([pair for pair in pairs if pair[0] not in chosen], source.words, target.words)
    return Pair(_prepare(source), _prepare(target), train.pairs(), test)


def _tasks(vectors: Path, dictionaries: Path, pattern: str, words: int, option: str) -> list[Task]:
    codes = [code for code in LANGUAGES if (vectors / pattern.format(code=code)).exists()]
    english = vectors / pattern.format(code="en")
    if not codes or not english.exists():
        raise InputError(f"{option}: expected {english.name} and one of "
                         f"{', '.join(pattern.format(code=code) for code in LANGUAGES)} in {vectors}, got "
                         f"{len(codes)} of the latter")  # fmt: skip
    names = [name for code in codes for name in (f"en-{code}", f"{code}-en")]
    return [
        Task(name, partial(_read_pair, vectors, dictionaries, pattern, words, name))
        for name in names
        if (dictionaries / f"{name}.5000-6500.txt").exists()
    ]


@lru_cache(maxsize=2)
def _read_pair(vectors: Path, dictionaries: Path, pattern: str, words: int, name: str) -> Pair:
    source, target = (read_vectors(vectors / pattern.format(code=code), max_words=words) for code in name.split("-"))
    train, test = (
        Gold.from_pairs(read_dictionary(dictionaries / f"{name}.{part}.txt"), source.words, target.words)
        for part in ("0-5000", "5000-6500")
    )
    return Pair(_prepare(source), _prepare(target), train.pairs(), test)


def _prepare(side: Vectors) -> np.ndarray[Any, Any]:
    return to_numpy(Preprocessing().fit_apply(np.asarray(side.vectors, dtype=np.float32))[1])
