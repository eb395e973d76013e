"""The studies' own arithmetic, on rows made up so that the answer is known, and the smallest real run of some."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from invarot import InputError
from invarot.baselines.procrustes import procrustes_map
from invarot.experiments import Context, find, reproduce
from invarot.experiments.clouds import make_cloud, random_map
from invarot.experiments.dynamics import KINDS, conclude, correlation
from invarot.experiments.noise import measure as measure_noise
from invarot.experiments.style import mean_and_sd
from invarot.experiments.tasks import core_pair, find_tasks
from invarot.experiments.words import Setting, measure, summary
from invarot.geometry.schatten import schatten_norm


def test_clouds_are_what_they_say():
    rng = np.random.default_rng(0)
    white = make_cloud(50, 3, rng, whiten=True)
    assert np.allclose(white.T @ white / 50, np.eye(3))
    plain = make_cloud(50, 3, rng)
    assert np.trace(plain.T @ plain) == pytest.approx(150)
    assert not np.allclose(plain.T @ plain / 50, np.eye(3), atol=0.1)
    assert float(schatten_norm(random_map(3, 2.0, rng), 2.0)) == pytest.approx(math.sqrt(3))
    assert np.allclose(np.linalg.svd(random_map(3, math.inf, rng))[1], 1)


def test_noise_free_rotation_is_recovered_and_classic_transport_fails():
    rows = {(row["system"], row["start"]): row for row in measure_noise("F_∞", 0.0, 0, 40, 4, 0)}
    assert rows["l_∞", "auto"]["accuracy"] == 1
    assert rows["l_∞", "auto"]["map_error"] < 0.01
    assert rows["oracle", "-"]["accuracy"] > 0.9
    assert rows["EMD", "-"]["accuracy"] < 0.5
    assert rows["EMD", "-"]["map_error"] is None


def noise_rows(infinity, two):
    """Two methods with one accuracy for each family."""
    rows = []
    for family, best in (("F_∞", infinity), ("F_2", two)):
        for system in ("EMD", "Sinkhorn", "l_2", "l_∞", "oracle"):
            start = ("random", "auto") if system.startswith("l_") else ("-",)
            rows += [{"family": family, "system": system, "start": s, "accuracy": best.get(system, 0.5)} for s in start]
    return rows


def test_noise_says_yes_and_no():
    conclude = find("noise").conclude
    assert "NOT" not in conclude(noise_rows({"l_∞": 0.9, "l_2": 0.8}, {"l_2": 0.4, "l_∞": 0.3}))
    assert conclude(noise_rows({"l_∞": 0.4, "l_2": 0.8}, {"l_2": 0.6, "l_∞": 0.7})).count("did NOT hold") == 8


def test_correlation_of_objective_and_precision():
    rows = [{"system": "s", "seed": 0, "objective": k, "precision@1": k**2} for k in range(5)]
    assert correlation(rows, "s") == pytest.approx(1)
    flat = [{**row, "precision@1": 0.0} for row in rows]
    assert math.isnan(correlation(flat, "s"))


def test_dynamics_judges_only_adversarial_runs_that_got_anywhere():
    def run(system, seed, objective, precision):
        return [{"system": system, "seed": seed, "step": k, "objective": o, "precision@1": p}
                for k, (o, p) in enumerate(zip(objective, precision, strict=True))]  # fmt: skip

    ours = [*run(KINDS[0], 0, [1, 2, 3], [0, 0.01, 0.02]), *run(KINDS[1], 0, [1, 2, 3], [0.1, 0.5, 0.4])]
    assert "could not be tested (none of 1 adversarial runs" in conclude([*ours, *run(KINDS[2], 3, [1, 2], [0, 0.01])])
    assert "was not tested" in conclude(ours)
    moved = [*run(KINDS[2], 0, [1, 2, 3], [0, 0.01, 0.0]), *run(KINDS[2], 4, [1, 2, 3], [0.3, 0.2, 0.1])]
    sentence = conclude([*ours, *moved])
    assert "held here (1 of 2 adversarial runs got anywhere)" in sentence
    assert "adversarial -1.00" in sentence
    assert "lost 10.0 points" in sentence


def test_mean_and_deviation_leave_out_what_is_not_there():
    rows = [{"x": 1, "y": 1.0}, {"x": 1, "y": 3.0}, {"x": 0, "y": math.nan}, {"x": 2, "y": None}, {"x": 3, "y": 5.0}]
    assert mean_and_sd(rows, "x", "y") == ([1, 3], [2.0, 5.0], [1.0, 0.0])


def test_failures_are_counted_beside_procrustes():
    shared = {"pair": "a-b", "shuffled": False, "precision_nn": 10.0, "seconds": 1.0, "device": "cpu"}
    rows = [
        {**shared, "system": "Procrustes", "precision_csls": 60.0},
        *({**shared, "system": "other", "precision_csls": value} for value in (70.0, 10.0, 20.0)),
    ]
    other = summary(rows)[1]
    assert (other["runs"], other["failed"], other["device"]) == (3, 2, "cpu")
    assert summary([*rows, {**rows[-1], "device": "cuda"}])[1]["device"] == "cpu and cuda"
    assert other["csls"] == pytest.approx(100 / 3)
    assert "other 33.3 % in 1.0 s. 2 of 4 runs failed" in find("words").conclude(rows)
    assert "not tested. No run in order of frequency. 0 of 1" in find("words").conclude(
        [{**row, "shuffled": True} for row in rows[:1]]
    )


def test_a_system_of_two_stages_gives_two_rows(tmp_path, monkeypatch):
    def staged(job):
        eye = np.eye(100, dtype=np.float32)
        yield "first", (eye, eye)
        yield "second", (procrustes_map(job.x, job.y, job.known), eye)

    context = Context(tmp_path, quick=True)
    monkeypatch.setitem(find("words").cells.__globals__["SYSTEMS"], "staged", staged)
    first, second = measure(find_tasks(context)[0], "staged", False, 0, context)
    assert (first["system"], second["system"]) == ("first", "second")
    assert second["seconds"] >= first["seconds"]
    assert first["precision_csls"] < 5 < second["precision_csls"]


def test_shuffled_rows_keep_their_pairs(tmp_path):
    context = Context(tmp_path, quick=True)
    task = find_tasks(context)[0]
    pair, mixed = task.load(), Setting.of(task, "earth mover", True, 0, context)
    sides = [side if isinstance(side, np.ndarray) else side.cpu().numpy() for side in (mixed.x, mixed.y)]
    assert not np.array_equal(sides[0], pair.x)
    for (i, j), (k, m) in zip(pair.train, mixed.known, strict=True):
        assert np.array_equal(sides[0][k], pair.x[i])
        assert np.array_equal(sides[1][m], pair.y[j])
    few = mixed.sizes.exact
    assert np.array_equal(
        np.sort(sides[0][:few], axis=0), np.sort(pair.x[:few], axis=0)
    )  # the same words are the frequent ones
    asked = next(iter(pair.gold.targets))
    moved = int(np.flatnonzero((sides[0] == pair.x[asked]).all(axis=1))[0])
    assert len(mixed.gold[moved]) == len(pair.gold.targets[asked])


def test_core_pair_splits_train_and_test():
    pair = core_pair(1000, reverse=False)
    assert not {i for i, _ in pair.train} & set(pair.gold.targets)
    assert len(pair.train) > 20
    back = core_pair(1000, reverse=True)
    assert back.x.shape == pair.y.shape


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"--muse.*wiki\.en\.vec"):
        find_tasks(Context(tmp_path, muse=tmp_path))


@pytest.fixture(scope="module")
def muse(tmp_path_factory):
    """A folder of MUSE's layout, wiki.XX.vec beside dictionaries/: Spanish is English turned, in another order."""
    folder = tmp_path_factory.mktemp("muse")
    rng = np.random.default_rng(0)
    english = make_cloud(300, 8, rng)
    order, turn = rng.permutation(300), random_map(8, math.inf, rng)
    sides = {"en": (range(300), english), "es": (order, (english @ turn)[order])}
    for code, (numbers, vectors) in sides.items():
        rows = zip(numbers, vectors, strict=True)
        lines = [f"{code}{i} " + " ".join(f"{v:.5f}" for v in row) for i, row in rows]
        (folder / f"wiki.{code}.vec").write_text("300 8\n" + "\n".join(lines) + "\n")
    (folder / "dictionaries").mkdir()
    for a, b in (("en", "es"), ("es", "en")):
        for part, rows in (("0-5000", range(40)), ("5000-6500", range(40, 80))):
            text = "".join(f"{a}{i} {b}{i}\n" for i in rows)
            (folder / "dictionaries" / f"{a}-{b}.{part}.txt").write_text(text)
    return folder, order


def test_muse_layout(muse):
    folder, order = muse
    tasks = find_tasks(Context(folder, muse=folder))
    assert [task.name for task in tasks] == ["en-es", "es-en"]
    place = np.argsort(order)
    pair = tasks[0].load()
    assert pair.train == [(i, place[i]) for i in range(40)]
    assert pair.gold.targets[50] == {place[50]}


def test_muse_files_through_the_table(muse, tmp_path):
    """Both directions of the fast systems, from files to figure."""
    pytest.importorskip("matplotlib")
    context = Context(tmp_path, muse=muse[0], quick=True, only=(", Procrustes,", ", Gromov–", ", l_∞-InvarOT,"))
    sentence = reproduce(find("words"), context, tell=lambda line: None)
    with (tmp_path / "summary.csv").open() as stream:
        rows = {(row["pair"], row["system"]): float(row["csls"]) for row in csv.DictReader(stream)}
    systems = ("Procrustes", "Gromov–Wasserstein", "l_∞-InvarOT")
    assert rows == {(pair, system): 100 for pair in ("en-es", "es-en") for system in systems}
    assert "0 of 6 runs failed" in sentence
