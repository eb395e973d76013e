"""Precision, MRR and coverage on answers one can count by hand."""

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.retrieval import coverage, evaluate, gold_ranks, neighbours

Y = np.array([[1.0, 0.0], [0.9, 0.4], [0.5, 0.9], [0.0, 1.0]])  # nearest to [1, 0]: 0, 1, 2, 3


def test_ranks_by_hand(lib):
    x = lib.array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    gold = {0: {2}, 1: {3, 0}, 2: {3, 1}}
    np.testing.assert_array_equal(gold_ranks(x, lib.array(Y), gold, method="cosine"), [3, 1, 2])
    found = evaluate(x, lib.array(Y), gold, at=(1, 2, 10), method="cosine")
    assert found.precision == {1: 1 / 3, 2: 2 / 3, 10: 1.0}
    assert found.mrr == pytest.approx((1 / 3 + 1 + 1 / 2) / 3)
    assert (found.queries, found.method) == (3, "cosine")


def test_a_tie_is_no_hit():
    y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert gold_ranks(y, y, {0: {0}}, method="cosine")[0] == 2
    assert gold_ranks(y, y, {0: {0, 1}}, method="cosine")[0] == 1
    assert gold_ranks(y, y, {0: {0}, 1: {0, 1}, 2: {2}}, method="cosine").tolist() == [2, 1, 1]  # of unlike numbers


@pytest.mark.parametrize("method", ["cosine", "csls", "inverted-softmax"])
def test_precision_agrees_with_the_neighbours(lib, method):
    rng = np.random.default_rng(0)
    y = rng.standard_normal((80, 6))
    x = y + 0.8 * rng.standard_normal(y.shape)
    gold = {i: {i, (i + 1) % 80} for i in range(0, 80, 3)}
    found, _ = neighbours(lib.array(x), lib.array(y), method=method, k=5, queries=np.array(sorted(gold)))
    answers = list(zip(sorted(gold), lib.numpy(found).tolist(), strict=True))
    hits = [gold[i] & set(row[:k]) for k in (1, 5) for i, row in answers]
    score = evaluate(lib.array(x), lib.array(y), gold, at=(1, 5), method=method, block=10)
    half = len(gold)
    assert score.precision[1] == pytest.approx(np.mean([bool(hit) for hit in hits[:half]]))
    assert score.precision[5] == pytest.approx(np.mean([bool(hit) for hit in hits[half:]]))
    assert 0.1 < score.precision[1] < score.precision[5] < 1


def test_coverage():
    assert coverage(["a", "b", "b", "c"], {"a", "b"}) == pytest.approx(2 / 3)
    assert coverage([], {"a"}) == 0


def test_bad_gold_is_named():
    with pytest.raises(InputError, match=r"gold: expected rows of x below 4 and of y below 4, .* target rows 1 to 9"):
        gold_ranks(Y, Y, {0: {9}, 1: {1}})
    with pytest.raises(InputError, match=r"gold: .* 2 queries, 1 of them without"):
        gold_ranks(Y, Y, {0: set(), 1: {1}})
    with pytest.raises(InputError, match="gold"):
        gold_ranks(Y, Y, {})


def test_a_target_named_twice_counts_once():
    points = np.eye(4)
    assert gold_ranks(points, points, {0: [0, 0], 1: [1]}, method="cosine").tolist() == [1, 1]
