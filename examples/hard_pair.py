"""
A hard pair
===========

Two views of a round cloud, each with noise of its own. A quick search fails, and the verdict says so; more effort or a few known pairs help.
"""

import numpy as np
from matplotlib import pyplot as plt

import invarot

rng = np.random.default_rng(1)
shared = rng.normal(size=(400, 20))  # a round cloud: its shape says next to nothing
turn = np.linalg.qr(rng.normal(size=(20, 20)))[0]
x = shared + 0.35 * rng.normal(size=shared.shape)  # and each side sees it with noise of its own
y = (shared + 0.35 * rng.normal(size=shared.shape)) @ turn

pairs = rng.permutation(400)
tried = {
    "quick": {"effort": "quick"},
    "high effort": {"effort": "high"},
    "3 known pairs": {"seeds": np.column_stack([pairs[:3], pairs[:3]])},
    "10 known pairs": {"seeds": np.column_stack([pairs[:10], pairs[:10]])},
}
unseen = pairs[10:]  # score where nothing was told
shares = {}
for name, options in tried.items():
    result = invarot.align(x, y, **options)
    shares[name] = np.mean(result.matches(how="nearest")[unseen] == unseen)
    advice = "" if result.verdict else f"; {result.verdict.reasons[-1]}"
    print(f"{name:<15} {result.verdict.word:<9} {shares[name]:.0%} of the other points right{advice}")

plt.figure(figsize=(6, 3), layout="constrained")
plt.barh(list(shares), [100 * share for share in shares.values()], color="#1f6f8b")
plt.gca().invert_yaxis()
plt.xlabel("per cent of the points right")
