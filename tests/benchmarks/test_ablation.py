"""Variants of the ablation change a number and all that is derived from it, and put it back."""

from argparse import Namespace
from pathlib import Path

import ablation_page

from benchmarks import ablation
from invarot.alignment import evidence, tuning
from invarot.alignment.loop import stages


def test_every_tuned_number_is_halved_and_doubled():
    found = ablation.list_variants()
    for name in ablation.tuned_numbers():
        for label in ("half", "double"):
            assert any(module is not tuning for module, *_ in found[f"{name} {label}"]), (
                f"{name}: no module of alignment/ uses it"
            )
    assert found["as it is"] == []


def test_what_is_derived_changes_with_it():
    changes = ablation.list_variants()["REPEATS double"]
    before = evidence.FOLDS, tuning.QUERIES
    with ablation.changed(changes):
        assert (2 * before[0], 2 * before[1]) == (evidence.FOLDS, evidence.QUERIES)
        assert stages.STAGE_POINTS == tuning.STAGE_POINTS == 1500
    assert before == (evidence.FOLDS, evidence.QUERIES)


def test_a_cell_says_what_changes():
    row = {"solved": "1", "word": "aligned", "score": "0.9"}
    assert ablation_page.compare([row], [row], 1) == "="
    assert ablation_page.compare([], [], 1) == "–"
    lost = {**row, "solved": "0", "score": "0.5"}
    assert ablation_page.compare([lost, row], [row, row], 3) == "−1, −20.0 points, a −1, w +1 (2)"


def test_the_page_has_a_line_for_what_changes_alone(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "ablation.command.txt").write_text("--sets part\n")
    row = {"set": "part", "problem": "clusters 3 one 200 0", "variant": "as it is", "seconds": "2", "score": "1.0", "solved": "1", "word": "aligned"}  # fmt: skip
    rows = [row, {**row, "variant": "no settle"}, {**row, "variant": "SLACK half", "solved": "0", "seconds": "1"}]
    text = ablation_page.summarise(rows, tmp_path, ["part"], ablation.list_variants())
    assert "| SLACK half | −1, a −1, w +1 | 0.50 |" in text
    assert "| no settle" not in text
    assert "no settle (1.00)" in text
    assert "| part | 1 | 1 | 1 | 1.000 | 1 | 0 |" in text
    assert "DECAY half" not in text  # was not run


def test_the_passes_come_first_and_the_sets_take_turns():
    args = Namespace(sets=["words", "verdict"], first=200, data=Path("DATA"), most=2, passes=False, numbers=[])
    jobs = ablation.list_jobs(args)
    assert [job[0] for job in jobs[:4]] == ["words", "verdict", "words", "verdict"]
    names = [set(job[3]) for job in jobs]
    passes = len([job for job in jobs if job[2] == 0])
    assert all(one == set(ablation.PASSES) for one in names[:passes])
    assert not any(one & set(ablation.PASSES) for one in names[passes:])
    every = {name for family, task, _, some in jobs if (family, task) == jobs[0][:2] for name in some}
    assert every == set(ablation.list_variants()) - {"as it is"}


def test_chosen_numbers_are_varied_alone():
    args = Namespace(sets=["words"], first=200, data=Path("DATA"), most=1, passes=False, numbers=["SLACK", "DECAY"])
    names = [name for job in ablation.list_jobs(args) for name in job[3]]
    assert sorted(names) == ["DECAY double", "DECAY half", "SLACK double", "SLACK half"]
