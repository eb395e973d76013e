"""
A hard pair
===========

Two spaces that agree only in part. The search may fail, and the verdict says so; more effort or a few known pairs help.
"""

import numpy as np
from matplotlib import pyplot as plt

import invarot

rng = np.random.default_rng(1)
shared = rng.gamma(1.0, size=(400, 8))  # what both spaces see
turn = np.linalg.qr(rng.normal(size=(20, 20)))[0]
x = np.hstack([shared, 0.9 * rng.normal(size=(400, 12))])  # and what each sees alone
y = np.hstack([shared, 0.9 * rng.normal(size=(400, 12))]) @ turn

pairs = rng.permutation(400)
tried = {
    "quick": {"effort": "quick"},
    "high effort": {"effort": "high"},
    "10 known pairs": {"seeds": np.column_stack([pairs[:10], pairs[:10]])},
    "60 known pairs": {"seeds": np.column_stack([pairs[:60], pairs[:60]])},
}
unseen = pairs[60:]  # score where nothing was told
shares = {}
for name, options in tried.items():
    result = invarot.align(x, y, **options)
    shares[name] = np.mean(result.matches(how="nearest")[unseen] == unseen)
    print(f"{name:<15} {result.verdict.word:<9} {shares[name]:.0%} of the other points right")
print("last line of the reasons:", result.verdict.reasons[-1])

plt.figure(figsize=(6, 3), layout="constrained")
plt.barh(list(shares), [100 * share for share in shares.values()], color="#1f6f8b")
plt.gca().invert_yaxis()
plt.xlabel("per cent of the points right")
