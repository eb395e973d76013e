"""Pooling: what the mutual neighbours in other vocabularies add to a word."""

from __future__ import annotations

import numpy as np

from invarot.translation import StepRecord, recipe
from invarot.translation.progress import Progress
from invarot.translation.steps.pooling import NEIGHBOUR_WEIGHT, Neighbours, apply_pooling, fit_pooling, leave_new_words
from invarot.translation.steps.shape import Work
from invarot.words import Vectors


def make_work(x, y):
    sides = [Vectors([f"{name}{k}" for k in range(len(z))], z) for name, z in (("a", x), ("b", y))]
    return Work(source=sides[0], target=sides[1], x=x, y=y, recipe=recipe(), progress=Progress())


def test_neighbours_are_added_to_unit_rows():
    x, y = np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    third = Neighbours("fr", np.array([1]), np.array([0]), np.array([[4.0, 0.0], [0.0, 1.0]]))
    record, work = fit_pooling(make_work(x, y), source=[third], target=[])
    np.testing.assert_allclose(work.x, [[1.0, 0.0], [NEIGHBOUR_WEIGHT, 1.0]], atol=1e-7)
    np.testing.assert_allclose(work.y, y)
    assert record.detail == "0.1 of the mutual neighbours in fr added"
    np.testing.assert_array_equal(apply_pooling(record, x, "source", ()), work.x)
    new = leave_new_words(record, np.array([[0.0, 5.0]]), "source", None, {}, (work.source, work.target))
    np.testing.assert_array_equal(new, [[0.0, 1.0]])


def test_two_vocabularies_alone_are_not_pooled():
    x = np.eye(2)
    record, work = fit_pooling(make_work(x, x))
    assert isinstance(record, StepRecord)
    assert not record.applied
    assert work.x is x


def test_a_third_measurement_of_each_word_helps():
    """Three noisy copies of a cloud: pooled with the third, more words of the first find themselves in the second."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((400, 10))
    x, y, z = (truth + 0.7 * rng.standard_normal(truth.shape) for _ in range(3))
    everyone = np.arange(400)
    third = [Neighbours("z", everyone, everyone, z)]
    _, work = fit_pooling(make_work(x, y), source=third, target=third)

    def count(left, right):
        left, right = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (left, right))
        return int(np.sum(np.argmax(left @ right.T, axis=1) == everyone))

    assert count(work.x, work.y) > count(x, y) + 10
