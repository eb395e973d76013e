"""Every tuned number of the solver, in one place, and below them what is derived from them.

results/tuning.md has the experiment behind each. An epsilon is relative to the cost scale of the problem; an objective is relative
to its score scale. ``python benchmarks/architecture.py --numbers`` lists every number that stands elsewhere in ``alignment/``, with
the reason why it is not tuned: defaults of options, limits of floating point, formulas, block sizes, ranges of the fitted rule.
"""

from __future__ import annotations

# -- epsilon, steps, tolerances
FIRST_EPSILON = 0.1  # where the default schedule starts: the plan depends on the shape of the clouds only
DECAY = 0.85  # factor of epsilon per step; smaller while the map hardly changes
COARSE_EPSILON = 0.03  # where a race ends and all points are used: below it a subsample loses accuracy
LAST_EPSILON = 0.02  # the largest last epsilon of a solve: in many dimensions, where points lie far apart
LOOSER = 10  # ratio of the tolerances, or of the epsilons, of two parts of a solve, and of the points of two stages
ROUGH_STEPS = 20  # outer steps of a race, a coarse stage, a sharpening, a refit
BRIEF_STEPS = 5  # outer steps of a first heat, a later stage, a contest
REPEATS = 4  # how often something is repeated where once says little: folds, nulls, random maps, rounds of a short fit

# -- how many points are enough
STAGE_POINTS = 1500  # of the first stage; problems with at most twice as many have no stages
FEW_POINTS = 500  # on which answers are compared: of default starts, of reflections, of rigid motions, of random maps
PROBES = 100  # points, and axes, of which each one is tried: for symmetries, for swaps of two matches
PER_DIMENSION = 2  # fewer do not determine a map, so that matches may be swapped and cannot be refitted
SIMPLEX_POINTS = 1.6  # per effective dimension, below which points are nearly a simplex

# -- comparing answers
SLACK = 0.05  # of the gap to a perfect score: values this close count as equal
SAME_ANSWER = 0.1  # distance between the images of two maps, over their spread, up to which they are the same answer
FINALISTS = 3  # candidates of a race that may continue to the full problem
SURE_TWINS = 0.5  # unseen points this much nearer to their targets than to their neighbours end the search
SURE_ERRORS = 10  # so does an agreement of maps fitted without them, beyond chance by so many standard errors (1/√N)
TELLING_ERRORS = 2.5  # standard errors by which a rigid motion fits surfaces better than a rival

# -- evidence
REFLECTIONS = 12  # reflected copies of the map to compare with; all of them in up to three dimensions
CONTEST_AXES = 30  # leading axes in which a map is compared with its reflections by balanced plans
NEIGHBOURS = 20  # nearest points that show the surroundings of a point
DOUBLINGS = 9  # the 1st, 2nd, 4th … 256th neighbour, whose distances say how crowded it is
OTHER_SIZE = 2.0  # ratio of spreads from which scale=True is suggested

# -- clouds that correspond in part
LARGEST_CUT = 16.0  # squared cut over the squared residual of matched points, at most

# ----------------------------------------------------------------------------------------------------------------------
# derived: no number of their own

SEARCH_FLOOR = COARSE_EPSILON / LOOSER  # the last epsilon of a search; below it only the best candidate is sharpened
PLAN_SWEEPS = LOOSER * ROUGH_STEPS  # most Sinkhorn sweeps for a plan that is solved alone, most steps of Frank–Wolfe
PARTIAL_SWEEPS = ROUGH_STEPS // 2  # of Sinkhorn per step where mass may stay unmatched: the cut moves with every step
PARTIAL_EPSILON = 1 / 2, 1 / (2 * LOOSER)  # over the squared cut: the price of an unmatched point is half of that

STARTS_COMPARED = 2 * REPEATS  # rigid motions that are fitted; so many requested starts, or more, test each other
QUERIES = REPEATS * FEW_POINTS  # most points of the evidence (a quarter in each fold), of a vote, of an assignment
RACE_ENTRIES = STARTS_COMPARED * STAGE_POINTS**2  # of all plans of a race: so many starts on the points of a stage
EVEN_POINTS = QUERIES // LOOSER  # fewest points of the evidence, where clouds are thinned to an even density
SURFACE_POINTS = LOOSER * QUERIES  # most points of a cloud that show its surfaces in the last fit
SLIDING_POINTS = LOOSER * FEW_POINTS  # most of these that are fitted

FOLDS = REPEATS  # a point is tested with a map fitted on the other three quarters
NULL_ROUNDS = REPEATS  # of neighbours and map in the fit to the null
DISTINCT = REPEATS  # distinct points of a cloud, one per fold, below which nothing is shown
COPIES = 1 - SAME_ANSWER**2  # twins from which points are within that share of the spacing from their targets
ELSEWHERE = SAME_ANSWER  # share of targets nearer to an image than the target of a reflection, beyond which it is another answer

REACH = LARGEST_CUT**0.5  # distance over which pairs of surfaces are sought, over the spacing
# squared distance, over the size of a neighbourhood of two spacings, that is always near
NEVER_FAR = 1 / (2 * REACH) ** 2
