"""Did it work? Evidence without labels, a fitted rule, and what to try next."""
