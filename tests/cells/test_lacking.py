"""Types that one assay lacks get nearly no weight; where none is missing, all cells keep theirs."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.cells import lacking
from invarot.cells.coarse import group_cells
from invarot.cells.lacking import find_counterparts, leave_out_part, list_parts
from invarot.cells.search import pair_groups

from .test_search import islands


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(lacking, "FEW", 25)
    monkeypatch.setattr(lacking, "RANDOM_STARTS", 60)


def test_a_type_without_a_counterpart_loses_its_weight():
    x, y, types, _ = islands(without=(2,))
    a, b = find_counterparts(x, y, np.random.default_rng(0))
    assert a.sum() == pytest.approx(1)
    assert (a * len(a))[types == 2].mean() < 0.1
    assert (a * len(a))[types != 2].min() > 0.5
    assert b == pytest.approx(1 / len(b))


def test_where_nothing_is_missing_nothing_is_left_out():
    x, y, types, _ = islands()
    a, b = find_counterparts(x, y, np.random.default_rng(0))
    assert a == pytest.approx(1 / len(types))
    assert b == pytest.approx(1 / len(types))


def test_parts_are_branches_of_both_assays():
    x, y, *_ = islands()
    rng = np.random.default_rng(0)
    pair = pair_groups(group_cells(x, 25, rng), group_cells(y, 25, rng))
    parts = list(list_parts(pair.left, pair.right))
    assert {one.side for one in parts} == {0, 1}
    for one in parts:
        groups = (pair.left, pair.right)[one.side]
        assert lacking.SMALLEST <= groups.weights[one.groups].sum() <= lacking.LARGEST
    changed = leave_out_part(pair, parts[0])
    assert changed.left.weights.sum() == pytest.approx(1)
    assert changed.left.weights[parts[0].groups].max() < 1e-3
    assert changed.right is pair.right
