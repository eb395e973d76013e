"""Hostile input, made from a seed: what `make fuzz` runs many times and the tests a few."""
