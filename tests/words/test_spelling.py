"""Spelling as coordinates: what is alike lies near, another alphabet far, and nothing depends on the rest of the list."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from invarot.words.spelling import SPELLING_COORDINATES, add_spelling, spelling, usable_weight

RUSSIAN = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстувщжыз")


def exact(one: str, other: str) -> float:
    """The cosine of the counts of runs, by hand."""
    counts = []
    for word in (one, other):
        marked = f"<{word}>"
        runs = [*word, *(marked[i : i + n] for n in (2, 3) for i in range(len(marked) - n + 1))]
        counts.append({run: runs.count(run) for run in runs})
    dot = sum(count * counts[1].get(run, 0) for run, count in counts[0].items())
    return dot / np.prod([np.sqrt(sum(c * c for c in side.values())) for side in counts])


def test_the_cosine_is_that_of_the_runs_of_letters():
    words = ["government", "gobierno", "gouvernement", "nation", "house", "commission", "comision"]
    found = spelling(words)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    for i, j in itertools.combinations(range(len(words)), 2):
        assert found[i] @ found[j] == pytest.approx(exact(words[i], words[j]), abs=4 / SPELLING_COORDINATES**0.5)


def test_capitals_accents_and_the_rest_of_the_list_do_not_matter():
    one = spelling(["Nación", "1997"])
    np.testing.assert_array_equal(one, spelling(["x", "nacion", "1997", "año"])[1:3])
    assert spelling(["ab"])[0] @ spelling(["ba"])[0] < 0.6  # order does


def test_another_alphabet_is_left_alone():
    english, german = ["government", "nation", "house", "co-op", "1997"], ["Regierung", "Nation", "Haus", "Öl", "1997"]
    russian = [word.translate(RUSSIAN) for word in english]
    assert usable_weight(0.4, english, german) == 0.4
    assert usable_weight(0.4, english, russian) == 0
    assert usable_weight(0.4, english, [*russian, "Nation"]) == 0  # a few borrowed words do not make an alphabet
    assert usable_weight(0.4, ["1997", "..."], ["1997", "..."]) == 0
    assert usable_weight(0.0, english, german) == 0


def test_nothing_to_read_is_zero():
    assert not spelling([""]).any()
    assert spelling([]).shape == (0, SPELLING_COORDINATES)
    assert np.isfinite(spelling(["\ud800", "語", "\u0301"])).all()


def test_beside_the_vectors(lib):
    z = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    words = ["one", "two", "three"]
    held = lib.array(z)
    assert add_spelling(held, words, 0.0) is held
    both = add_spelling(held, words, 0.5)
    assert lib.owns(both)
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    np.testing.assert_allclose(lib.numpy(both), np.concatenate([unit, 0.5 * spelling(words)], axis=1), rtol=1e-5)
