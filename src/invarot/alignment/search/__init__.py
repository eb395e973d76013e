"""From starts to candidates: the starts that were asked for, or a race of many."""
