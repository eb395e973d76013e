"""Dictionaries and vocabularies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.words import DictionaryWarning, Gold, looks_like_word, read_dictionary, shuffled_order
from invarot.words.dictionaries import list_pairs


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content", ["house casa\ncat gato\n", "house\tcasa\r\ncat\tgato", "\ufeffhouse  casa\n\n cat gato \n"]
)
def test_layouts(tmp_path: Path, content: str) -> None:
    assert read_dictionary(write(tmp_path / "d.txt", content.encode())) == [("house", "casa"), ("cat", "gato")]


def test_tabs_let_phrases_hold_spaces(tmp_path: Path) -> None:
    assert read_dictionary(write(tmp_path / "d.txt", b"new york\tnueva york\n")) == [("new york", "nueva york")]


def test_bad_lines_are_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "d.txt", b"house casa\nalone\na b c\nx\t\ny\xff z\ncat gato\n")
    with pytest.warns(DictionaryWarning) as caught:
        assert read_dictionary(path) == [("house", "casa"), ("cat", "gato")]
    said = sorted(str(w.message).split(": ", 1)[1] for w in caught)
    assert said[0] == "1 × line that is not valid UTF-8 (skipped): line 5"
    assert said[1] == "3 × line that is not a pair (skipped): line 2 ('alone'), 3 ('a b c'), 4 ('x')"


@pytest.mark.parametrize("content", [b"", b"\n\n", b"one\ntwo\n"])
def test_no_pairs_at_all(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="no pair"):
        read_dictionary(write(tmp_path / "d.txt", content))


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such"):
        read_dictionary(tmp_path / "none")
    with pytest.raises(InputError, match="directory"):
        read_dictionary(tmp_path)


def test_gold_counts_queries_and_coverage() -> None:
    pairs = [("a", "x"), ("a", "y"), ("a", "gone"), ("b", "gone"), ("missing", "x"), ("c", "x"), ("a", "x")]
    gold = Gold.from_pairs(pairs, ["c", "b", "a", "a"], ["y", "x"])
    assert gold.targets == {0: frozenset({1}), 2: frozenset({0, 1})}
    assert gold.queries == 2
    assert gold.listed == 4
    assert gold.coverage == 0.5
    assert gold.pairs() == [(0, 1), (2, 0), (2, 1)]
    assert gold.reversed().targets == {0: frozenset({2}), 1: frozenset({0, 2})}


def test_gold_of_nothing() -> None:
    assert Gold.from_pairs([], ["a"], ["b"]).coverage == 0.0
    assert Gold.from_pairs([("q", "r")], ["a"], ["b"]).queries == 0


def test_words_and_other_tokens() -> None:
    words = ["house", "l'été", "don’t", "co-op", "हिन्दी", "می‌خواهم", "日本", "Ελλάδα"]
    others = ["1997", "3rd", "...", "-", "'", "", "u.s.", "a/b", "€", "new york", "</s>"]
    mask = looks_like_word(words + others)
    assert mask.dtype == bool
    assert mask.tolist() == [True] * len(words) + [False] * len(others)
    assert looks_like_word([]).shape == (0,)


def test_shuffled_order() -> None:
    order = shuffled_order(100, first=60, rng=7)
    np.testing.assert_array_equal(np.sort(order), np.arange(100))
    np.testing.assert_array_equal(order[60:], np.arange(60, 100))
    assert (order[:60] != np.arange(60)).mean() > 0.8
    np.testing.assert_array_equal(order, shuffled_order(100, first=60, rng=np.random.default_rng(7)))
    assert (order != shuffled_order(100, first=60, rng=8)).any()
    for first in (-1, 101, True):
        with pytest.raises(InputError, match="first"):
            shuffled_order(100, first=first, rng=0)


def test_a_dictionary_may_be_a_dict_and_has_to_be_pairs():
    assert list_pairs({"house": ["casa", "hogar"], "dog": "perro"}) == [
        ("house", "casa"),
        ("house", "hogar"),
        ("dog", "perro"),
    ]
    with pytest.raises(InputError, match="got 'ab' at 0"):
        list_pairs(["ab", "cd"])
