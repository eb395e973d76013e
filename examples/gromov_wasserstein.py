"""
Gromov–Wasserstein is p = 2
===========================

The same objective as Gromov–Wasserstein with inner products, and the same fixed points.
"""

import numpy as np

import invarot

rng = np.random.default_rng(2)
x = rng.gamma(2.0, size=(30, 3))
y = (x @ np.linalg.qr(rng.normal(size=(3, 3)))[0])[rng.permutation(30)]
x, y = x - x.mean(axis=0), y - y.mean(axis=0)

solver = invarot.Sinkhorn(schedule=0.3, tol=1e-10, plan_tol=1e-9, plan_max_iter=2000)
result = invarot.align(x, y, p=2, start="signature", solver=solver)
plan = result.plan.dense()
gram_x, gram_y = x @ x.T, y @ y.T

# The objective: k·‖M‖_F, whose square is a quadratic form of the plan in the two Gram matrices.
quadratic = np.sum(plan * (gram_x @ plan @ gram_y))
k = np.sqrt(3)  # the default radius, d^(1/p)
print(f"score of the alignment    {result.objective:.6f}")
print(f"from Gram matrices alone  {k * np.sqrt(quadratic):.6f}")

# Its value as a Gromov–Wasserstein loss, both ways.
a = np.full(30, 1 / 30)
loss = sum(plan[i, j] * np.sum(plan * np.subtract.outer(gram_x[i], gram_y[j]) ** 2) for i, j in np.ndindex(30, 30))
print(f"square loss               {loss:.6f}")
print(f"constant − 2‖M‖²          {a @ gram_x**2 @ a + a @ gram_y**2 @ a - 2 * quadratic:.6f}")

# A fixed point of ours at ε is one of entropic Gromov–Wasserstein at ε' = 2ε‖M‖/k: one of its steps does not move it.
epsilon = 2 * result.plan.epsilon * np.sqrt(quadratic) / k
kernel = 4 / epsilon * gram_x @ plan @ gram_y
u, v = np.zeros(30), np.zeros(30)
for _ in range(3000):
    u = -np.log(np.exp(kernel + v) @ a)
    v = -np.log(a @ np.exp(kernel + u[:, None]))
after = np.exp(kernel + u[:, None] + v) / 30**2
result.plot()
print(f"one Gromov–Wasserstein step moves the plan by {np.abs(after - plan).sum():.1e} (l_1)")
