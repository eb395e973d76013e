"""The steps: prepare, solve, refine, local centring, spelling, penalties. One file and one shape each."""
