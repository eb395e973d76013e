"""
Another dimension
=================

A cloud of 4 dimensions hidden in 10, and fewer points on one side.
"""

import numpy as np

import invarot

rng = np.random.default_rng(1)
x = rng.gamma(2.0, size=(250, 4)) * [2.0, 1.5, 1.2, 1.0]
hide = np.linalg.qr(rng.normal(size=(10, 10)))[0][:4]  # 4 orthonormal rows in 10 dimensions
chosen = rng.permutation(len(x))[:200]  # y misses 50 of x's points
y = x[chosen] @ hide + 0.01 * rng.normal(size=(200, 10))

result = invarot.align(x, y)
print(f"map of shape {result.map.shape}, singular values {np.round(result.spectrum(), 3)}")

# There are 200 places for 250 points, so a point's mass is shared; a point that has a twin should still find it.
found = result.matches(how="nearest")[chosen]
print(f"points of y that their twin in x finds: {np.mean(found == np.arange(200)):.0%}")
print(f"there and back, root mean square error: {np.sqrt(np.mean((result.inverse_transform(y) - x[chosen]) ** 2)):.1e}")
print(f"verdict: {result.verdict}")
result.plot()

# Weights say how much of each point there is: none for the points that y misses, as far as we know.
a = np.zeros(len(x))
a[chosen] = 1 / len(chosen)
weighted = invarot.align(x, y, a=a)
print(f"with the missing points weighted 0: {np.mean(weighted.matches()[chosen] == np.arange(200)):.0%} by the plan")
