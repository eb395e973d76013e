"""Improvers: functions ``(problem, candidate)`` → a better candidate, or None."""
