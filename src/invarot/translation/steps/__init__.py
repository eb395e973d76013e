"""The steps: prepare, solve, refine, local centring, spelling, penalties; pooling in hubs. One file and one shape each."""
