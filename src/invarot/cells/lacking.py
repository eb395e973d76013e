"""Types that one assay lacks: each part of an assay may be without a counterpart, and the assays are compared without it.

A plan that keeps both compositions has to spread the cells of such a type over others. Without them it need not. Where nothing is
missing it is the other way round: without a part, its counterpart has to be spread. So one score decides, with no price for leaving
cells out. Plans with all cells are searched the harder: where every part may be left out and its plans exchanged too, a wrong one of so
many wins by chance (results/cells.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import ClusterNode, linkage, to_tree

from .alternation import Views
from .coarse import Groups, Ints, group_cells
from .search import (
    FEW,
    FIRST_EPSILONS,
    RANDOM_STARTS,
    GroupPair,
    draw_starts,
    pair_groups,
    try_exchanges,
)

Floats = np.ndarray[Any, Any]

SMALLEST, LARGEST = 0.04, 0.6  # shares of the cells that may be without a counterpart
MOST_PARTS = 12  # parts of each assay
SOME = 20  # random starts without each part
LITTLE = 1e-4  # weight that a group without a counterpart keeps
AGREEMENT_MARGIN = 0.012  # by which the assays have to agree better without a part


@dataclass(frozen=True)
class Part:
    """Groups of one assay (0 or 1) that may be without a counterpart."""

    side: int
    groups: Ints


def find_counterparts(x: Views, y: Views, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return weights (n,), (m,) of the cells, each of sum 1: nearly 0 for those of a type that the other assay lacks."""
    pair = pair_groups(*(group_cells(one, FEW, rng) for one in (x, y)))
    starts = draw_starts(pair.left, pair.right, RANDOM_STARTS, rng)
    found = pair.solve(starts, FIRST_EPSILONS)
    top, kept = try_exchanges(pair, found, rng)[0].agreement + AGREEMENT_MARGIN, pair
    for part in list_parts(pair.left, pair.right):
        without = leave_out_part(pair, part)
        some = np.concatenate([[one.plan for one in found], starts[rng.permutation(len(starts))[:SOME]]])
        agreement = without.solve(_without(some, without), FIRST_EPSILONS)[0].agreement
        if agreement > top:
            top, kept = agreement, without
    return spread_weights(kept.left), spread_weights(kept.right)


def _without(plans: Floats, pair: GroupPair) -> Floats:
    """Return plans (s, n, m) of mass 1 with the weights of the pair, nearly."""
    rows, columns = plans.sum(2), plans.sum(1)
    changed = plans * (pair.left.weights / np.maximum(rows, 1e-12))[:, :, None]
    changed = changed * (pair.right.weights / np.maximum(columns, 1e-12))[:, None, :]
    return changed / changed.sum((1, 2), keepdims=True)


def list_parts(left: Groups, right: Groups) -> Iterator[Part]:
    """Yield parts of both assays: the branches of a tree of their groups (Ward 1963), the most separate first."""
    for side, groups in enumerate((left, right)):
        points = np.hstack(list(groups.views.values()))
        waiting: list[ClusterNode] = [to_tree(linkage(points, "ward"))] if len(points) > 1 else []
        count = 0
        while waiting and count < MOST_PARTS:
            node = waiting.pop(int(np.argmax([one.dist for one in waiting])))
            for child in (node.get_left(), node.get_right()):
                some = np.array(child.pre_order())
                if SMALLEST <= groups.weights[some].sum() <= LARGEST:
                    yield Part(side, some)
                    count += 1
                if not child.is_leaf():
                    waiting.append(child)


def leave_out_part(pair: GroupPair, part: Part) -> GroupPair:
    """Return the pair with nearly no weight on a part."""
    groups = (pair.left, pair.right)[part.side]
    weights = groups.weights.copy()
    weights[part.groups] *= LITTLE
    changed = replace(groups, weights=weights / weights.sum())
    return replace(pair, left=changed) if part.side == 0 else replace(pair, right=changed)


def spread_weights(groups: Groups) -> Floats:
    """Return the weight of each cell (n,): cells of a group share its weight."""
    weights: Floats = (groups.weights / np.bincount(groups.label))[groups.label]
    return weights / weights.sum()
