"""The systems of the paper's tables, all with the result type of the solver."""

from .adversarial import adversarial, adversarial_runs
from .algorithm_1 import algorithm_1
from .earth_mover import earth_mover
from .emd import emd
from .entropic import entropic
from .graph_gromov_wasserstein import graph_gromov_wasserstein
from .gromov_wasserstein import gromov_wasserstein
from .invariant import l2_invarot, linf_invarot, lp_invarot
from .mini_vec2vec import mini_vec2vec
from .oracle import oracle
from .procrustes import procrustes
from .self_learning import learn_maps, self_learning
from .softassign import softassign
from .wasserstein_procrustes import wasserstein_procrustes, wasserstein_procrustes_runs

__all__ = [
    "adversarial", "adversarial_runs", "algorithm_1", "earth_mover", "emd", "entropic", "graph_gromov_wasserstein",
    "gromov_wasserstein",
    "l2_invarot", "learn_maps", "linf_invarot", "lp_invarot", "mini_vec2vec", "oracle", "procrustes", "self_learning", "softassign",
    "wasserstein_procrustes", "wasserstein_procrustes_runs",
]  # fmt: skip
