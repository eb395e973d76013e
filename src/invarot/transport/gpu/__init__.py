"""Streaming kernels on the GPU: the plan's sums, products and maxima without the plan."""
