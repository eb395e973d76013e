"""
Several spaces at once
======================

``align_many`` aligns every pair and then finds one map per space into a common one. A space that fits none is named.
"""

import numpy as np
from matplotlib import pyplot as plt

import invarot

rng = np.random.default_rng(0)
latent = rng.gamma(1.5, size=(300, 6)) * [3.0, 2.5, 2.0, 1.5, 1.2, 1.0]


def see(dimensions):
    """The same points in a space of their own: another frame, another order, some noise; and which point each row is."""
    order = rng.permutation(300)
    frame = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0][:6]
    return (latent @ frame)[order] + 0.05 * rng.normal(size=(300, dimensions)), order


seen = {"first": see(6), "second": see(8), "third": see(10)}
spaces = {name: points for name, (points, _) in seen.items()}
spaces["stranger"] = rng.normal(size=(300, 7))
found = invarot.align_many(spaces)
print(found)

common = {name: found.transform(spaces[name], name) for name in found.maps}
placed = {name: common[name][np.argsort(seen[name][1])] for name in common}  # row i is point i again, to score
for one, other in (("first", "second"), ("first", "third"), ("second", "third")):
    apart = ((placed[one][:, None] - placed[other][None]) ** 2).sum(axis=2)
    right = np.mean(apart.argmin(axis=1) == np.arange(300))
    print(f"{one} to {other}, through the common space: {right:.0%} of the points nearest to themselves")

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes = np.linalg.svd(common["first"] - common["first"].mean(axis=0), full_matrices=False)[2][:2].T
for number, (name, points) in enumerate(common.items()):
    panels[0].scatter(*spaces[name][:, :2].T, s=8, color=f"C{number}", label=name)
    panels[1].scatter(*(points @ axes).T, s=30 / (number + 1), color=f"C{number}", label=name)
panels[0].set_title("before: the first two coordinates of each")
panels[1].set_title("in the common space")
panels[1].legend()
