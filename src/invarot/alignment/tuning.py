"""Every tuned number of the solver, in one place. results/tuning.md has the experiment behind each.

An epsilon is relative to the cost scale of the problem; an objective is relative to its score scale. Numbers elsewhere are
defaults of options, fixed ratios (ten times looser, a tenth of a spacing), limits of floating point and block sizes.
"""

from __future__ import annotations

# -- the schedule of epsilon (budget.py)
FIRST_EPSILON = 0.1  # where the default schedule starts: the plan depends on the shape of the clouds only
DECAY = 0.85  # factor of epsilon per step; smaller while the map hardly changes
COARSE_EPSILON = 0.03  # where a race ends and all points are used: below it a subsample loses accuracy
SEARCH_FLOOR = 3e-3  # the last epsilon of a search; below it only the best candidate is sharpened
SHARPEST = 1e-4, 0.02  # bounds of the last epsilon, which is a tenth of the spacing of the points in between

# -- what a rough part of a solve may spend (budget.py)
ROUGH_STEPS = 20  # outer steps of a race, a coarse stage, a sharpening, a refit
BRIEF_STEPS = 5  # outer steps of a first heat or a later stage

# -- subsamples (loop/stages.py, search/heats.py)
STAGE_POINTS = 1500  # points of the first stage; problems with at most twice as many have no stages
STAGE_RATIO = 7  # points of one stage over those of the stage before
RACE_ENTRIES = 2e7  # entries of all plans of a race together, which determines its number of points

# -- comparing answers (problem.py)
SLACK = 0.05  # of the gap to a perfect score: values this close count as equal
SAME_ANSWER = 0.1  # distance between the images of two maps, over their spread, up to which they are the same answer

# -- the search (search/)
FINALISTS = 3  # candidates of a race that may continue to the full problem
SURE_TWINS = 0.5  # unseen points this much nearer to their targets than to their neighbours end the search
SURE_SURPLUS = 10  # so does a surplus of this many standard errors (1/√N) of maps fitted without the points
COMPARED_POINTS = 500  # points, at most, on which answers are compared: of default starts, of reflections

# -- improving (improve/)
SWAP_POINTS = 100  # points up to which every swap of two matches is tried: the cost of a round is their cube
PER_DIMENSION = (
    2  # points per dimension: fewer do not determine a map, so that matches may be swapped and cannot be refitted
)

# -- judging (evidence.py, judging/)
QUERIES = 2000  # maximal number of points used for evidence, and among which neighbours are sought
NULL_ROUNDS = 4  # rounds of neighbours and map in the fit to the null
REFLECTIONS = 12  # reflected copies of the map to compare with; all of them in up to three dimensions
ELSEWHERE = (
    0.1  # share of targets nearer to an image than the target of a reflection, beyond which it is another answer
)
CONTEST_AXES = 30  # leading axes in which a map is compared with its reflections by balanced plans
NEIGHBOURS = 20  # nearest points that show the surroundings of a point
DISTINCT = 4  # distinct points of a cloud, below which nothing is shown
COPIES = 0.99  # twins, from which points lie on their targets even on a line, or if all distances are alike
ROOM = 1.6  # points per effective dimension, below which they are nearly a simplex
PROBES = 100  # maximal number of points, and of axes, tested for symmetries
MET = 0.1  # of the mean squared spacing: points this near to a target fit it, in the test for symmetries
OTHER_LENGTHS = (
    0.1  # mean difference of the quantiles of row lengths, over their rms, from which unit rows are suggested
)
ALONE = 9.0  # times the median squared distance to the other cloud: a point this far may have no counterpart
OTHER_SIZE = 2.0  # ratio of spreads from which scale=True is suggested
OTHER_ORIGIN = (
    0.3  # difference of the centres' distances from the origin, over the spread, from which translate=True is suggested
)

# -- clouds that correspond in part (overlap.py, search/partial.py)
CHANCE_MAPS, CHANCE_POINTS = 4, 500  # random maps and points that show how near targets lie by chance
FAR = 16.0  # squared cut over the squared residual of matched points, at most
PARTIAL_EPSILON = 0.5, 0.05  # first and last epsilon, over the squared cut
PARTIAL_SWEEPS = 10  # of Sinkhorn per step: the cut moves with every step
VOTE_POINTS = 2000  # points whose neighbourhoods vote
SURFACE_POINTS = 20_000  # points of each cloud, at most, that show the surfaces of the last fit
SLIDING_POINTS = 5000  # of these that are fitted
