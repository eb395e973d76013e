"""Variants of the ablation change a number and all that is derived from it, and put it back."""

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


def test_a_lost_run_shows():
    row = {"solved": "1", "word": "aligned", "seconds": "2"}
    same, differs = ablation.compare([row], [row])
    assert (same.endswith("1.00"), differs) == (True, False)
    lost, differs = ablation.compare([{**row, "solved": "0"}], [row])
    assert differs
    assert "| 1 / 0 | 0, 1 | 1, 0 |" in lost
