"""The alternation: plan step, map step, a smaller epsilon; its stages and its batches."""
