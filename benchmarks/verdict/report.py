"""How well the verdict does on families that its rule was not fitted on.

    python -m benchmarks.verdict.report

Development families are judged by rules, thresholds included, that were fitted without the family; report families by the rule
that ships, which never saw them. Writes results/verdict.md, results/verdict.csv (a row a family) and results/verdict.png
(reliability), from the raw tables.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.provenance import header, write_page
from invarot.alignment.judging import rule
from invarot.alignment.verdict import Verdict

from .fit import Table, make_rule

WORDS = ("aligned", "coarse", "doubtful", "failed")
FIELDS = ("group", "family", "solves", "right", "coarse", "wrong", "wrong_aligned", "right_aligned", "right_asked", "wrong_coarse",
          "coarse_found", "coarse_asked", "spearman")  # fmt: skip


def judge_rows(table: Table, rows: np.ndarray, made: dict[str, Any] | None) -> list[Verdict]:
    """Verdicts of some rows by a rule; None: the one that ships."""
    kept = dict(rule.RULE)
    rule.RULE.update(made or {})
    try:
        return [
            rule.decide(table.evidence[k], "degenerate" if table.degenerate[k] else None) for k in np.flatnonzero(rows)
        ]
    finally:
        rule.RULE.update(kept)


def judge_left_out(table: Table) -> list[Verdict]:
    """Verdicts of every row by a rule made without its family."""
    found: list[Verdict | None] = [None] * len(table.rows)
    for family in np.unique(table.family):
        out = table.family == family
        verdicts = judge_rows(table, out, make_rule(table.keep(~out)))
        for k, one in zip(np.flatnonzero(out), verdicts, strict=True):
            found[k] = one
    return [one for one in found if one is not None]


def summarise(table: Table, verdicts: list[Verdict], rows: np.ndarray) -> dict[str, Any]:
    """Counts of some rows. Right ones that are symmetric, or that a default start beats, have no one right word."""
    word = np.asarray([one.word for one in verdicts])
    symmetric = np.asarray([one.symmetric or one.evidence.better > 0 for one in verdicts])
    wrong, right = rows & ~table.good, rows & table.right & ~symmetric
    coarse = rows & table.good & ~table.right & ~symmetric
    estimate = np.asarray([one.resolution.estimate for one in verdicts])
    inside = np.asarray(
        [
            one.resolution.low - 1e-9 <= f <= one.resolution.high + 1e-9
            for one, f in zip(verdicts, table.foscttm, strict=True)
        ]
    )
    fair = rows & ~table.degenerate
    return {
        "solves": int(rows.sum()),
        "right": int((rows & table.right).sum()),
        "coarse": int((rows & table.good & ~table.right).sum()),
        "wrong": int(wrong.sum()),
        "wrong_aligned": int((wrong & (word == "aligned")).sum()),
        "right_aligned": int((right & (word == "aligned")).sum()),
        "right_asked": int(right.sum()),
        "wrong_coarse": int((wrong & (word == "coarse")).sum()),
        "coarse_aligned": int((coarse & (word == "aligned")).sum()),
        "coarse_found": int((coarse & np.isin(word, WORDS[:2])).sum()),
        "coarse_asked": int(coarse.sum()),
        "degenerate_aligned": int((rows & table.degenerate & (word == "aligned")).sum()),
        "spearman": round(float(spearmanr(estimate[rows], table.foscttm[rows])[0]), 3) if np.ptp(estimate[rows]) > 0 and np.ptp(table.foscttm[rows]) > 0 else float("nan"),
        "inside": round(float(inside[fair].mean()), 3) if fair.any() else float("nan"),
        "calibration_error": round(calibration_error(np.asarray([one.probability for one in verdicts])[rows], table.good[rows]), 3),
    }  # fmt: skip


def bins(probability: np.ndarray, good: np.ndarray, count: int = 10) -> list[tuple[float, float, int]]:
    """Mean probability, share of good ones and size of each bin that is not empty."""
    place = np.minimum((probability * count).astype(int), count - 1)
    return [
        (float(probability[place == k].mean()), float(good[place == k].mean()), int((place == k).sum()))
        for k in range(count)
        if (place == k).any()
    ]


def calibration_error(probability: np.ndarray, good: np.ndarray) -> float:
    """Expected calibration error over ten bins of equal width."""
    return sum(size * abs(said - true) for said, true, size in bins(probability, good)) / len(good)


def draw_reliability(path: Path, groups: dict[str, tuple[Table, list[Verdict]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4.6))
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for (name, (table, verdicts)), marker, beside in zip(groups.items(), "os", ((8, -12), (-8, 7)), strict=False):
        found = bins(np.asarray([one.probability for one in verdicts]), table.good)
        (line,) = axes.plot([one[0] for one in found], [one[1] for one in found], marker=marker, label=name)
        side = "left" if beside[0] > 0 else "right"  # counts of one group below its dots, of the other above
        for said, true, size in found:
            axes.annotate(
                str(size),
                (said, true),
                textcoords="offset points",
                xytext=beside,
                ha=side,
                fontsize=7,
                color=line.get_color(),
            )
    axes.set(xlabel="probability given", ylabel="share that is right, at least coarsely", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def lines_of(name: str, table: Table, verdicts: list[Verdict]) -> list[str]:
    whole = summarise(table, verdicts, np.ones(len(table.rows), dtype=bool))
    share = lambda a, b: f"{a} of {b} ({a / max(b, 1):.1%})"  # noqa: E731
    truth = {"right": table.right, "coarse": table.good & ~table.right, "wrong": ~table.good}
    lines = [f"## {name}", "", "| | |", "|---|---|",
             f"| solves, families | {whole['solves']}, {len(np.unique(table.family))} |",
             f"| wrong ones called aligned | {share(whole['wrong_aligned'], whole['wrong'])} |",
             f"| of these degenerate | {whole['degenerate_aligned']} of {int(table.degenerate.sum())} |",
             f"| right ones called aligned | {share(whole['right_aligned'], whole['right_asked'])} |",
             f"| wrong ones called coarse | {share(whole['wrong_coarse'], whole['wrong'])} |",
             f"| coarse ones called coarse or aligned | {share(whole['coarse_found'], whole['coarse_asked'])} |",
             f"| Spearman of estimated and true FOSCTTM | {whole['spearman']:.3f} |",
             f"| true FOSCTTM inside the interval (nominal 80 %) | {whole['inside']:.1%} |",
             f"| expected calibration error | {whole['calibration_error']:.3f} |",
             "", "| truth | " + " | ".join(WORDS) + " |", "|---" * (1 + len(WORDS)) + "|"]  # fmt: skip
    for kind, rows in truth.items():
        count = Counter(one.word for one, here in zip(verdicts, rows, strict=True) if here)
        lines.append(f"| {kind} | " + " | ".join(str(count[word]) for word in WORDS) + " |")
    found = bins(np.asarray([one.probability for one in verdicts]), table.good)
    lines += ["", "| probability | right, at least coarsely | solves |", "|---|---|---|"]
    lines += [f"| {said:.2f} | {true:.2f} | {size} |" for said, true, size in found]
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, default=Path("results/raw"))
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--only", choices=("development", "report"))
    args = parser.parse_args()
    groups: dict[str, tuple[Table, list[Verdict]]] = {}
    for group in ("development", "report"):
        path = args.raw / f"verdict.{group}.csv"
        if path.exists() and args.only in (None, group):
            table = Table(path)
            everything = np.ones(len(table.rows), dtype=bool)
            verdicts = judge_left_out(table) if group == "development" else judge_rows(table, everything, None)
            groups[group] = table, verdicts
    lines = ["# The verdict on families it was not fitted on", "",
             *header("OMP_NUM_THREADS=1 python -m benchmarks.verdict.solves --group GROUP --data DATA",
                     "OMP_NUM_THREADS=1 python -m benchmarks.verdict.measure --group GROUP --data DATA",
                     "python -m benchmarks.verdict.fit", "python -m benchmarks.verdict.report")]  # fmt: skip
    titles = {"development": "Development families, each left out", "report": "Report families, the rule that ships"}
    with (args.out / "verdict.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        writer.writeheader()
        for group, (table, verdicts) in groups.items():
            lines += lines_of(titles[group], table, verdicts)
            for family in np.unique(table.family):
                row = summarise(table, verdicts, table.family == family)
                writer.writerow({"group": group, "family": family, **row})
            called = [f"- {row['family']} {row['problem']} {row['way']}, seed {row['seed']}: {one.word} ({one.probability:.2f})"
                      for row, good, one in zip(table.rows, table.good, verdicts, strict=True) if not good and one.word in WORDS[:2]]  # fmt: skip
            lines += [f"Wrong ones called aligned or coarse ({group}):", "", *(called or ["- none"]), ""]
    draw_reliability(args.out / "verdict.png", groups)
    print(write_page(args.out / "verdict.md", lines))


if __name__ == "__main__":
    main()
