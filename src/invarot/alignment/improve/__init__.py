"""What makes a found answer better. One shape: ``(problem, candidate)`` to a better candidate, or None."""
