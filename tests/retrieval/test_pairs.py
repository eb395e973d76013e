"""Mutual pairs, and the choices of both sides."""

import numpy as np
import pytest

from invarot.arrays import unit_rows
from invarot.retrieval import matches, matches_by_distance, mutual, neighbours
from invarot.retrieval.pairs import choices

from .plain import csls


@pytest.mark.parametrize("block", [None, 13])
def test_mutual_pairs_choose_each_other(lib, clouds, block):
    x, y = clouds
    forward, back = csls(x, y, 10).argmax(axis=1), csls(y, x, 10).argmax(axis=1)
    expected = [(i, j) for i, j in enumerate(forward) if back[j] == i]
    i, j = mutual(lib.array(x), lib.array(y), block=block)
    assert list(zip(lib.numpy(i).tolist(), lib.numpy(j).tolist(), strict=True)) == expected
    assert 5 < len(expected) < 90


def test_match_scores_are_csls(lib, clouds):
    x, y = clouds
    i, j, scores = matches(lib.array(x), lib.array(y))
    np.testing.assert_allclose(lib.numpy(scores), csls(x, y, 10)[lib.numpy(i), lib.numpy(j)], rtol=1e-9, atol=1e-12)


def test_a_permutation_is_found_and_duplicates_are_paired_once(lib):
    rng = np.random.default_rng(5)
    y = rng.standard_normal((60, 8)).astype("f4")
    order = rng.permutation(60)
    i, j = mutual(lib.array(y[order]), lib.array(y))
    np.testing.assert_array_equal(lib.numpy(i), np.arange(60))
    np.testing.assert_array_equal(lib.numpy(j), order)
    _, j = mutual(lib.array(np.concatenate([y, y])), lib.array(y), block=60)
    assert len(set(lib.numpy(j).tolist())) == len(j) == 60


def test_pooled_matches_agree_with_exact_ones():
    rng = np.random.default_rng(2)
    y = rng.standard_normal((3000, 10)).astype("f4")
    x = y + 0.5 * rng.standard_normal(y.shape).astype("f4")
    exact, quick = (set(zip(*(z.tolist() for z in matches(x, y, csls_k=3, pool=p)[:2]), strict=True)) for p in (1, 16))
    assert len(exact & quick) > 0.97 * len(exact | quick)


def test_choices_are_the_nearest_of_both_sides():
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((70, 4)), rng.standard_normal((90, 4))
    i, j, score, mutual = choices(x, y, pool=1, block=16)
    there, _ = neighbours(x, y, k=1)
    back, _ = neighbours(y, x, k=1)
    expected = {(a, int(b)) for a, b in enumerate(there[:, 0])} | {(int(a), b) for b, a in enumerate(back[:, 0])}
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == expected
    assert len(i) == len(expected)  # mutual pairs once
    rows, columns, values = matches(x, y, pool=1)
    np.testing.assert_array_equal(i[mutual], rows)
    np.testing.assert_array_equal(j[mutual], columns)
    np.testing.assert_allclose(score[mutual], values)


def test_matches_by_distance_hold_back_what_is_near_to_many(lib, clouds):
    x, y = clouds
    s = -((x[:, None] - y) ** 2).sum(axis=2) / 2
    rx, ry = (np.sort(z, axis=1)[:, ::-1][:, :10].mean(axis=1) for z in (s, s.T))
    score = s - rx[:, None] / 2 - ry / 2
    mutual_rows = [i for i, j in enumerate(score.argmax(axis=1)) if score[:, j].argmax() == i]
    i, j, found = (lib.numpy(one) for one in matches_by_distance(lib.array(x), lib.array(y), block=17))
    np.testing.assert_array_equal(i, mutual_rows)
    np.testing.assert_array_equal(j, score.argmax(axis=1)[mutual_rows])
    np.testing.assert_allclose(found, score[i, j])


def test_on_the_sphere_matches_by_distance_are_matches(clouds):
    x, y = (unit_rows(points) for points in clouds)
    (i, j, score), (ii, jj, other) = matches(x, y), matches_by_distance(x, y)
    np.testing.assert_array_equal((i, j), (ii, jj))
    np.testing.assert_allclose(score, 2 * other)
