"""Several spaces at once: turns that are known, any order, any reference, an unrelated space, saved and loaded."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import invarot
from invarot import InputError, Search, Sinkhorn


def random_turn(d, rng):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


@pytest.fixture(scope="module")
def related():
    """Four spaces of the same 80 points, shuffled, turned and with noise; the turns."""
    rng = np.random.default_rng(0)
    base = rng.gamma(2.0, size=(80, 3)) * (1.0, 1.5, 2.0)
    turns = {name: random_turn(3, rng) for name in "abcd"}
    noise = 0.02
    spaces = {
        name: base[rng.permutation(80)] @ turn + noise * rng.standard_normal((80, 3)) for name, turn in turns.items()
    }
    return spaces, turns


@pytest.fixture(scope="module")
def found(related):
    return invarot.align_many(related[0])


def test_the_maps_are_the_turns(related, found):
    _, turns = related
    for one, other in combinations("abcd", 2):
        matrix, offset = found.between(one, other)
        np.testing.assert_allclose(matrix, turns[one].T @ turns[other], atol=0.02)
        np.testing.assert_allclose(offset, 0, atol=1e-12)
        assert found.verdict(other, one).word == "aligned"
    assert found.unrelated == ()
    assert all(pair.direct for pair in found.pairs)


def test_cycles_lead_back(found):
    """Around every cycle of three, by construction: to rounding."""
    for one, two, three in combinations("abcd", 3):
        around = found.between(one, two)[0] @ found.between(two, three)[0] @ found.between(three, one)[0]
        np.testing.assert_allclose(around, np.eye(3), atol=1e-12)


def test_the_order_does_not_matter(related, found):
    spaces, _ = related
    other = invarot.align_many({name: spaces[name] for name in "cadb"}, search=Search(n_jobs=2))
    assert list(other.maps) == list("cadb")
    for name in "abcd":
        np.testing.assert_array_equal(other.maps[name], found.maps[name])
    assert other.pairs == found.pairs


def test_any_of_them_is_the_reference(related, found):
    spaces, turns = related
    there = found.relative_to("c")
    np.testing.assert_allclose(there.maps["c"], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(there.transform(spaces["a"], "a"), spaces["a"] @ turns["a"].T @ turns["c"], atol=0.2)
    np.testing.assert_allclose(there.between("a", "b")[0], found.between("a", "b")[0], atol=1e-12)


def test_translation_and_scale(related):
    spaces, _ = related
    moved = {"a": spaces["a"], "b": 3.0 * spaces["b"] + 10.0, "c": 0.1 * spaces["c"] - 5.0}
    found = invarot.align_many(moved, translate=True, scale=True)
    plain = invarot.align_many({name: spaces[name] for name in "abc"}, translate=True)
    matrix, offset = found.between("a", "b")
    image = 3.0 * plain.relative_to("b").transform(spaces["a"], "a") + 10.0
    np.testing.assert_allclose(spaces["a"] @ matrix + offset, image, atol=0.3)


def test_an_unrelated_space_is_named_and_harms_none(related, found):
    spaces, _ = related
    stranger = np.random.default_rng(5).standard_normal((90, 3))
    other = invarot.align_many([*(spaces[name] for name in "abcd"), stranger])
    assert other.unrelated == ("4",)
    for one, two in combinations(range(4), 2):
        same = found.between("abcd"[one], "abcd"[two])[0]
        np.testing.assert_allclose(other.between(str(one), str(two))[0], same, atol=1e-2)
    with pytest.raises(InputError, match="'4', which is unrelated"):
        other.transform(stranger, "4")
    assert "4  unrelated" in repr(other)


def test_nothing_related_has_no_maps():
    rng = np.random.default_rng(6)
    found = invarot.align_many([rng.gamma(2.0, size=(60, 3)), rng.standard_normal((60, 3))])
    assert (found.maps, found.unrelated) == ({}, ("0", "1"))


def test_options_without_effect_are_noted(related, found, tmp_path):
    spaces, _ = related
    assert found.notes == ()
    two = invarot.align_many({name: spaces[name] for name in "ab"}, search=Search(ordered=True, n_jobs=2))
    assert two.notes[0] == "n_jobs: no effect, since 2 spaces make 1 pair"
    assert [note.split(", ")[0] for note in two.notes[1:]] in (["a–b: ordered: no effect"], ["b–a: ordered: no effect"])
    assert f"note  {two.notes[0]}" in repr(two)
    two.save(tmp_path / "two")
    assert invarot.load_many(tmp_path / "two").notes == two.notes


def test_it_is_saved_and_loaded(found, tmp_path):
    found.save(tmp_path / "many")
    again = invarot.load_many(tmp_path / "many")
    assert (again.pairs, again.notes) == (found.pairs, found.notes)
    for name in found.maps:
        np.testing.assert_array_equal(again.maps[name], found.maps[name])
    with pytest.raises(InputError, match=r"holds an invarot alignment of many spaces; load it with invarot.load_many"):
        invarot.load(tmp_path / "many")


@pytest.mark.parametrize(
    ("spaces", "options", "message"),
    [
        ([np.eye(3)], {}, "spaces: expected a list or a dict of at least two arrays, got 1 of them"),
        (3, {}, "spaces: expected .* got int"),
        ([np.eye(3), np.eye(3)], {"solver": Sinkhorn(objective="transport")}, "solver: expected .*simplified"),
        ([np.eye(3), np.eye(3)], {"search": Search(side=(np.ones(3), np.ones(3)))}, "search: expected"),
        ([np.eye(3), np.eye(3)], {"solver": False}, "solver: expected .* got False"),
        ([np.eye(3), np.full((3, 3), np.nan)], {}, r"spaces\['1'\]"),
    ],
)
def test_refusals(spaces, options, message):
    with pytest.raises(InputError, match=message):
        invarot.align_many(spaces, **options)


def test_names_that_are_one_as_text_are_refused():
    x = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match="names that differ as text"):
        invarot.align_many({1: x, "1": x, "b": x})
