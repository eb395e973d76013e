"""Every tuned number of the solver, in one place. results/tuning.md holds the experiment that set each of them.

An epsilon is relative to the cost scale of the problem; an objective is relative to its score scale. Numbers elsewhere are
defaults of options, limits of floating point and sizes of blocks, none of which decide what is found.
"""

from __future__ import annotations

# -- the schedule of epsilon (budget.py)
FIRST_EPSILON = 0.1  # where the default schedule starts: the plan sees the shape of the clouds and none of the points
DECAY = 0.85  # factor of epsilon per step; faster while the map hardly moves
COARSE_EPSILON = 0.03  # where a race ends and all points take over: below it a subsample loses more than the plan blurs
SEARCH_FLOOR = 3e-3  # the last epsilon of a search; below it only the best candidate is sharpened
SHARPEST = 1e-4, 0.02  # bounds of the last epsilon, which is a tenth of the spacing of the points in between

# -- what a rough part of a solve may spend (budget.py)
ROUGH_STEPS = 20  # outer steps of a race, a coarse stage, a sharpening, a refit
BRIEF_STEPS = 5  # outer steps of a first heat or a later stage

# -- subsamples (loop/stages.py, search/heats.py)
STAGE_POINTS = 1500  # points that show the shape of a cloud; problems of at most twice as many are solved at once
STAGE_RATIO = 7  # points of one stage over those of the stage before
RACE_ENTRIES = 2e7  # entries of all plans of a race together, which decides how many points it is run on

# -- comparing answers (problem.py)
SLACK = 0.05  # of what is missing to a perfect score: values this close are as good as each other
SAME_ANSWER = 0.1  # distance between the images of two maps, over their spread, up to which they are one answer

# -- the search (search/)
FINALISTS = 3  # candidates of a race that may go on to the full problem
SURE_TWINS = 0.5  # unseen points this much nearer to their targets than to their neighbours end the search
SURE_SURPLUS = (
    10  # so do maps fitted without points that agree on so many more than chance, over the root of their number
)
COMPARED_POINTS = 500  # up to which a start that was asked for is raced with plain ones

# -- improving (improve/)
SWAP_POINTS = 100  # points up to which every swap of two matches is tried: the cost of a round is their cube
PER_DIMENSION = 2  # points: fewer do not determine a map, so that matches may be swapped and cannot be refitted

# -- judging (evidence.py, judging/)
QUERIES = 2000  # source points that evidence is gathered on, at most
NULL_ROUNDS = 6  # rounds of neighbours and map that an unrelated target is given to fit itself
PROBES = 100  # points, and axes, on which symmetries are looked for
MET = 0.1  # of the mean squared spacing: points this near to a target have met it, which a symmetry is known by
OTHER_SIZE = 2.0  # spread of one cloud over the other's from which a scale is advised
OTHER_ORIGIN = 0.3  # difference of the centres' distances from the origin, over the spread, from which a translation is
