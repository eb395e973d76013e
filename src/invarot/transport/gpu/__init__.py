"""Streaming GPU kernels: sums, products and maxima of a plan that is never stored."""
