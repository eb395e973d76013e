"""Neighbours and mutual pairs against the whole score matrix."""

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.retrieval import matches_by_distance, neighbours

from .plain import scores_of


@pytest.mark.parametrize("method", ["cosine", "csls", "inverted-softmax"])
@pytest.mark.parametrize("block", [None, 11])
def test_neighbours_are_the_best_of_the_whole_matrix(lib, clouds, method, block):
    x, y = clouds
    whole = scores_of(method, x, y)
    order = np.argsort(-whole, axis=1)[:, :7]
    found, scores = neighbours(lib.array(x), lib.array(y), method=method, k=7, block=block)
    np.testing.assert_array_equal(lib.numpy(found), order)
    np.testing.assert_allclose(lib.numpy(scores), np.take_along_axis(whole, order, axis=1), rtol=1e-9, atol=1e-9)


def test_queries_are_rows_of_the_whole_answer(lib, clouds):
    x, y = (lib.array(z) for z in clouds)
    everything, _ = neighbours(x, y, k=3)
    some, _ = neighbours(x, y, k=3, queries=np.array([5, 2, 119]))
    np.testing.assert_array_equal(lib.numpy(some), lib.numpy(everything)[[5, 2, 119]])


def test_a_shortlist_gives_the_same_answers_and_scores(lib, clouds):
    x, y = (lib.array(z) for z in clouds)
    asked = np.array([5, 2])
    found, scores = neighbours(x, y, k=3, queries=asked)
    short, same = neighbours(x, y, k=3, queries=asked, shortlist=40)
    np.testing.assert_array_equal(lib.numpy(short), lib.numpy(found))
    np.testing.assert_allclose(lib.numpy(same), lib.numpy(scores), rtol=1e-12)
    few, _ = neighbours(x, y, k=10, queries=asked[:1], shortlist=10)  # only the nearest by cosine, in CSLS order
    plain, _ = neighbours(x, y, k=10, queries=asked[:1], method="cosine")
    assert set(lib.numpy(few)[0].tolist()) == set(lib.numpy(plain)[0].tolist())


def test_csls_holds_a_hub_back():
    # the hub, row 0, is a little nearer to each source than its own partner, which is far from the other source
    x = np.array([[1.0, 0.5], [1.0, -0.5]])
    y = np.array([[1.0, 0.0], [1.0, 1.35], [1.0, -1.35]])
    assert neighbours(x, y, method="cosine", k=1)[0].ravel().tolist() == [0, 0]
    assert neighbours(x, y, method="csls", k=1, csls_k=2)[0].ravel().tolist() == [1, 2]


def test_more_neighbours_than_points(lib):
    found, scores = neighbours(lib.array(np.eye(3)), lib.array(np.eye(3)), k=50)
    assert [sorted(row) for row in lib.numpy(found).tolist()] == [[0, 1, 2]] * 3
    np.testing.assert_array_equal(lib.numpy(found)[:, 0], [0, 1, 2])
    assert tuple(scores.shape) == (3, 3)


def test_bad_input_is_named():
    x = np.eye(3)
    with pytest.raises(InputError, match=r"x and y: expected rows of one space.*\(3, 3\) and \(3, 2\)"):
        neighbours(x, x[:, :2])
    with pytest.raises(InputError, match="x and y: expected rows of one space"):
        matches_by_distance(x, x[:, :2])
    with pytest.raises(InputError, match="csls_k: expected a whole number"):
        matches_by_distance(x, x, csls_k=0)
    with pytest.raises(InputError, match=r"method: .*'clsl'.*did you mean 'csls'"):
        neighbours(x, x, method="clsl")
    with pytest.raises(InputError, match="k: expected a whole number"):
        neighbours(x, x, k=0)
    with pytest.raises(InputError, match="temperature"):
        neighbours(x, x, method="inverted-softmax", temperature=0.0)
