"""
Torch and gradients
===================

Tensors in, tensors out. ``transform`` keeps dtype and device and passes gradients on, so that a network before it can be trained.
"""

import tempfile

import torch
from matplotlib import pyplot as plt

import invarot

generator = torch.Generator().manual_seed(0)
x = torch.rand(300, 6, generator=generator, dtype=torch.float64) ** 2 * torch.arange(1.0, 7.0)
turn = torch.linalg.qr(torch.randn(6, 6, generator=generator, dtype=torch.float64))[0]
result = invarot.align(x, x[torch.randperm(300, generator=generator)] @ turn)
print(type(result.map).__name__, result.map.dtype, result.verdict.word)

# Any precision and device go in; the answer has the same.
print(result.transform(x.to(torch.bfloat16)).dtype)

# Saved and loaded, it is NumPy; tensors are still answered with tensors, and .to("cuda") moves it.
with tempfile.TemporaryDirectory() as folder:
    result.save(folder + "/model")
    loaded = invarot.load(folder + "/model")
print(type(loaded.map).__name__, type(loaded.transform(x)).__name__, type(loaded.to("cpu").map).__name__)

# Gradients flow through the map: find the source point that lands on a given target.
goal = x[7] @ turn
point = torch.zeros(1, 6, dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.Adam([point], lr=0.2)
losses = []
for _ in range(100):
    optimizer.zero_grad()
    loss = ((loaded.transform(point) - goal) ** 2).sum()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"squared distance {losses[0]:.2f} at first, {losses[-1]:.1e} in the end")

plt.figure(figsize=(5, 3), layout="constrained")
plt.semilogy(losses, color="#1f6f8b")
plt.xlabel("step")
plt.ylabel("squared distance")
