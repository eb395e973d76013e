"""The alternation: plan step, map step, a smaller epsilon; its budget, its stages, its batches."""
