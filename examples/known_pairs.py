"""
A few known pairs
=================

A cloud that looks the same from several sides, and a few known pairs that settle which is meant.
"""

import numpy as np

import invarot

rng = np.random.default_rng(3)
half = rng.normal(size=(100, 2)) * [3.0, 1.0]
x = np.vstack([half, half * [1, -1]]) + 0.02 * rng.normal(size=(200, 2))  # a cloud and its mirror image
turn = np.array([[np.cos(1.0), np.sin(1.0)], [-np.sin(1.0), np.cos(1.0)]])
order = rng.permutation(len(x))
y = (x @ turn)[order]
truth = np.argsort(order)

# Nothing in the clouds says which half is which: there are maps as good as the true one, and the verdict says so.
blind = invarot.align(x, y)
print(f"without pairs: {np.mean(blind.matches() == truth):.0%} matched; {blind.verdict}")

blind.plot()

# Three pairs are enough.
seeds = [(i, truth[i]) for i in (0, 50, 150)]
told = invarot.align(x, y, seeds=seeds)
print(f"with 3 pairs:  {np.mean(told.matches() == truth):.0%} matched; {told.verdict}")
print(f"error of the map: {np.abs(told.map - turn).max():.1e}")
told.plot()
