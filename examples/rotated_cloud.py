"""
A rotated cloud
===============

A cloud turned and shuffled: optimal transport alone cannot see through the turn, the joint problem can.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

import invarot

rng = np.random.default_rng(0)
x = rng.gamma(2.0, size=(300, 3))  # a cloud without symmetry
turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]  # any orthogonal map
order = rng.permutation(len(x))
y = (x @ turn)[order] + 0.01 * rng.normal(size=x.shape)  # row i of y is row order[i] of x, turned
truth = np.argsort(order)  # row i of x went to row truth[i] of y

# Transport with the coordinates taken as they are: every point goes to one that happens to lie near.
cost = ((x[:, None] - y[None]) ** 2).sum(-1)
plain = linear_sum_assignment(cost)[1]
print(f"transport alone: {np.mean(plain == truth):.0%} of the points matched")

# Plan and map together.
result = invarot.align(x, y)
print(f"invarot.align:   {np.mean(result.matches() == truth):.0%} of the points matched")
print(f"error of the map: {np.abs(result.map - turn).max():.1e}")
print()
print(result)
result.plot()

# The map carries points that were not there when it was found.
new = rng.gamma(2.0, size=(5, 3))
print()
print(f"new points, furthest from where they belong: {np.abs(result.transform(new) - new @ turn).max():.1e}")
