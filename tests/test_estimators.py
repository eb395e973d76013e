"""The scikit-learn face: scikit-learn's own checks, and that it is nothing but ``align``."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import invarot
from invarot import Rotations, Schatten, Search, Sinkhorn
from invarot.errors import InputError

pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install 'invarot[sklearn]'")
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

LINE = "hands over a 1-D y, labels, where y has to be a 2-D cloud; the same is checked below with such a y"
EXCEPTIONS = {
    "check_transformer_data_not_an_array": LINE,
    "check_transformer_general": LINE,
    "check_transformer_preserve_dtypes": LINE,
}

RNG = np.random.default_rng(3)
X = RNG.gamma(2.0, size=(60, 3))
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
ORDER = RNG.permutation(60)
Y = (X @ TURN)[ORDER]


def aligner(**options):
    return invarot.InvariantAligner(**{"start": "axes", **options})


@pytest.fixture(scope="module")
def fitted():
    return aligner().fit(X, Y)


@pytest.mark.filterwarnings("ignore::invarot.NotConverged", "ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([aligner()], expected_failed_checks=lambda estimator: EXCEPTIONS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_option_of_align_and_its_default():
    options = dict(inspect.signature(invarot.align).parameters)
    mine = dict(inspect.signature(invarot.InvariantAligner).parameters)
    expected = {name: option.default for name, option in options.items() if option.kind is option.KEYWORD_ONLY}
    expected["random_state"] = expected.pop("rng")
    assert {name: option.default for name, option in mine.items()} == expected


def test_is_align(fitted):
    found = invarot.align(X, Y, start="axes")
    np.testing.assert_array_equal(fitted.map_, found.map)
    np.testing.assert_array_equal(fitted.offset_, found.offset)
    np.testing.assert_array_equal(fitted.plan_.u, found.plan.u)
    assert (fitted.objective_, fitted.status_, fitted.verdict_) == (found.objective, found.status, found.verdict)
    assert len(fitted.history_) == len(found.history) == fitted.n_iter_
    assert fitted.n_features_in_ == 3
    np.testing.assert_allclose(fitted.map_, TURN, atol=1e-2)


def test_options_reach_align():
    np.testing.assert_allclose(np.linalg.svd(aligner(p=Schatten(radius=2.0)).fit(X, Y).map_)[1], 2.0)
    shifted = aligner(translate=True).fit(X, Y + 5)
    assert np.abs(shifted.offset_).min() > 1
    with pytest.raises(InputError, match="p: expected a number"):
        aligner(p=0.5).fit(X, Y)
    with pytest.raises(InputError, match=r"solver: expected Sinkhorn\(...\) or Exact\(...\)"):
        aligner(solver="exact").fit(X, Y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'radius'"):
        aligner(radius=2.0)


def test_options_in_groups_are_parameters_like_others():
    """Kept as they were given, cloned, and searched over."""
    solver, known = Sinkhorn(schedule=0.05), Search(side=(np.arange(60.0), np.arange(60.0)))
    first = aligner(solver=solver, search=known, start="signature")
    assert first.get_params()["solver"] is solver
    copy = clone(first)
    assert copy.solver == solver
    assert copy.search == known
    np.testing.assert_array_equal(copy.fit(X, Y).map_, first.fit(X, Y).map_)
    search = GridSearchCV(aligner(start=TURN), {"p": [Schatten(radius=0.1), Schatten(radius=1.0)]}, cv=2)
    assert search.fit(X, X @ TURN).best_params_ == {"p": Schatten(radius=1.0)}


def test_score_keeps_to_the_memory_of_the_solver():
    found = aligner().fit(X, Y)
    assert found.set_params(solver=Sinkhorn(memory="1GB")).score(X) == pytest.approx(aligner().fit(X, Y).score(X))
    with pytest.raises(invarot.MemoryBound):
        found.set_params(solver=Sinkhorn(memory=1000)).score(X)


# -- the checks that scikit-learn runs with a 1-D y, with a cloud ----------------------------------------------------


@pytest.mark.parametrize("convert", [np.asarray, lambda points: points.tolist()])
def test_transforms_arrays_and_lists(fitted, convert):
    for found in (aligner().fit(convert(X), convert(Y)).transform(convert(X)),
                  aligner().fit_transform(convert(X), convert(Y))):  # fmt: skip
        np.testing.assert_array_equal(found, fitted.transform(X))
    with pytest.raises(ValueError, match="2 features, but InvariantAligner is expecting 3"):
        fitted.transform(X[:, :2])


def test_float32_stays_float32():
    found = aligner().fit(X.astype(np.float32), Y.astype(np.float32))
    assert found.transform(X.astype(np.float32)).dtype == found.map_.dtype == np.float32


# -- a transformer ---------------------------------------------------------------------------------------------------


def test_there_and_back(fitted):
    new = RNG.normal(size=(7, 3))
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(new)), new, atol=1e-9)
    one = fitted.transform(new[:1])
    np.testing.assert_allclose(one, fitted.transform(new)[:1], atol=1e-12)
    with pytest.raises(NotFittedError):
        aligner().inverse_transform(new)


def test_data_frames_and_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["u", "v", "w"])
    found = aligner().set_output(transform="pandas").fit(frame, pandas.DataFrame(Y))
    assert found.feature_names_in_.tolist() == ["u", "v", "w"]
    assert found.transform(frame).columns.tolist() == ["invariantaligner0", "invariantaligner1", "invariantaligner2"]


def test_other_counts_and_dimensions():
    wide = np.hstack([Y[:50], np.zeros((50, 2))])
    found = aligner(solver=Sinkhorn(schedule=0.05)).fit(X, wide)
    assert found.transform(X).shape == (60, 5)
    assert found.inverse_transform(wide).shape == (50, 3)


def test_clone_params_and_pickle(fitted):
    copy = clone(aligner(p=2.0, random_state=5))
    assert (copy.p, copy.random_state, hasattr(copy, "map_")) == (2.0, 5, False)
    assert copy.set_params(p=4.0).get_params()["p"] == 4.0
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


def test_pipeline():
    line = make_pipeline(StandardScaler(with_std=False), PCA(2), aligner()).fit(X, Y[:, :2] - Y[:, :2].mean(axis=0))
    assert line.transform(X).shape == (60, 2)
    assert line[-1].n_features_in_ == 2
    assert np.isfinite(line.score(X, Y[:, :2] - Y[:, :2].mean(axis=0)))


# -- score -----------------------------------------------------------------------------------------------------------


def test_score_tells_good_from_bad(fitted):
    new = RNG.gamma(2.0, size=(200, 3))
    good = fitted.score(X)
    assert 0.95 < good <= 1
    worse = aligner(start=-TURN, solver=Sinkhorn(schedule=0.01, max_iter=1))
    with pytest.warns(invarot.NotConverged):
        worse.fit(X, Y)
    assert worse.score(X) < good - 0.1
    assert good > fitted.score(new) > 0.3  # other points of the same law: close, but no twins
    assert fitted.score(new, new @ TURN) > 0.95  # against their own images
    assert fitted.score(X) == pytest.approx(fitted.score(X, Y))
    with pytest.raises(InputError, match="y: expected 3 columns"):
        fitted.score(X, Y[:, :2])


def test_score_of_a_known_plan():
    """Two far pairs: the plan is the identity, its cost Σ ‖zᵢ − yᵢ‖²/2 = 1 and that of no correspondence 1 + 100."""
    y = np.array([[-10.0, 0.0], [10.0, 0.0]])
    found = aligner(start=np.eye(2), p=Rotations()).fit(y, y)
    assert found.score(np.array([[-10.0, 1.0], [10.0, 1.0]])) == pytest.approx(1 - 1 / 201)
    assert found.score(np.array([[0.0, 0.0], [0.0, 0.0]])) == pytest.approx(0.0)


def test_score_weighs_the_target():
    b = np.where(np.arange(60) < 30, 1 / 30, 0.0)
    found = aligner(a=b, b=b, start=TURN).fit(X, X @ TURN)
    assert found.score(X[:30]) > 0.95
    assert found.score(X[:30], X @ TURN) < found.score(X[:30])


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
def test_grid_search_prefers_the_right_invariance():
    search = GridSearchCV(aligner(start=TURN), {"p": [1.0, np.inf]}, cv=2).fit(X, X @ TURN)
    assert search.best_params_ == {"p": np.inf}


# -- randomness, and the missing extra -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)])
def test_same_state_same_answer(make):
    one, other = (aligner(start="random", n_starts=2, random_state=make()).fit(X, Y).map_ for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_random_state_matters_and_is_checked():
    maps = [aligner(start="random", n_starts=1, random_state=seed).fit(X, Y).alignment_.starts for seed in (0, 1, None)]
    assert len({starts[0].objective for starts in maps}) > 1
    with pytest.raises(InputError, match="random_state: expected"):
        aligner(random_state="seven").fit(X, Y)


def test_without_scikit_learn():
    code = """
import sys
sys.modules["sklearn"] = None
import invarot
assert "InvariantAligner" not in invarot.__all__
try:
    invarot.InvariantAligner
except invarot.MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "InvariantAligner needs" in done.stdout
    assert "pip install 'invarot[sklearn]'" in done.stdout


def test_importing_invarot_leaves_the_extras_alone():
    code = (
        "import sys, invarot; print([name for name in ('sklearn', 'torch', 'ot', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
