"""The verdict with its evidence, and the accuracy if there is a dictionary."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..alignment.judging.rule import RULE
from .contents import Contents
from .dynamics import chart_card
from .figures import probability_scale
from .markup import bar, count, number, percent, section, text

WATCHED = (
    "After each stage of the solve, each round of refinement and each later step. The dictionary is used for measuring only, "
    "not for learning."
)
SIGNS = {"aligned": "✓", "coarse": "≈", "doubtful": "?", "failed": "✕"}
MEANING = {
    "aligned": "The two vocabularies are aligned. Single translations may still be wrong, especially those of rare "
    "words.",
    "coarse": "The two vocabularies are aligned to within neighbourhoods: expect a related word rather than the translation.",
    "doubtful": "The evidence is not conclusive. Check the translations of words you know before you use the others.",
    "failed": "The two vocabularies are not aligned: expect the translations below to be wrong. More words, "
    "vectors from more similar texts, or the preset “best” may help.",
}

# Key in the evidence: title, and a text that continues the number shown before it.
EVIDENCE = {
    "gain": (
        "Better than chance",
        "less distance to the nearest target than by chance, for words held out of the fit. Chance is the same target with "
        "every principal coordinate shuffled, fitted in the same way.",
    ),
    "split": (
        "Held-out words agree",
        "of the words are sent to the same target by a map fitted without them.",
    ),
    "surplus": (
        "More than chance agrees",
        "more words are sent to the same target by maps fitted without them than by chance; more words are stronger evidence.",
    ),
    "points": ("Words tested", "source words on which this evidence was measured."),
    "twins": (
        "Nearer than neighbours",
        "is how much nearer held-out words lie to their targets than neighbours of one language lie to each other, as a "
        "part of that distance; between languages it is about 0, and far below where the map is wrong.",
    ),
    "smooth": (
        "Correlated residuals",
        "is the correlation of the residuals of neighbouring words: 0 for noise, larger for a wrong rotation.",
    ),
    "lead": (
        "Better than reflected",
        "is the log of the squared distance to targets under the best reflected map, over that under the map: 0 where both fit alike.",
    ),
    "errors": ("Surely better", "standard errors lie between the map and reflected ones, on the mean."),
    "least_errors": ("Surely better than each", "standard errors lie between the map and the best reflected one."),
    "drift": ("Drift", "of the words are nearer to an image than the target that a refitted map gives it."),
    "blur": (
        "Blur",
        "of the words would be nearer than the right one, if reflected maps are as plausible as they fit.",
    ),
    "residual": ("Residual", "of the variance of the target is left between held-out words and their targets."),
    "dimensions": ("Dimensions", "effective dimensions of the flatter space."),
    "better": ("Better answers", "answers of the default starts score higher."),
    "rivals": (
        "Rival maps",
        "other maps have the same score but send words to other targets. Above 0 the vocabularies may be symmetric, and the "
        "choice between the maps is then arbitrary.",
    ),
}


def verdict_section(contents: Contents) -> str:
    """Return the verdict, its probability on a scale, and all evidence with explanations."""
    verdict = contents.model.verdict
    scale = probability_scale(
        "probability", verdict.probability, (RULE["failed"], RULE["coarse"]), title=f"Probability {verdict.probability:.2f}",
        description=f"On a scale from 0 to 1: failed below {RULE['failed']:g}, right from {RULE['coarse']:g} on, "
        "doubtful between.",
    )  # fmt: skip
    word = (
        f'<p class="word {text(verdict.word)}"><span aria-hidden="true">{SIGNS.get(verdict.word, "•")}</span> '
        f'{text(verdict.word.capitalize())}</p><p class="probability">Probability that the map is right: '
        f"<strong>{verdict.probability:.2f}</strong></p>"
        f'<p class="probability">Words nearer to a word’s image than its translation: '
        f"<strong>{verdict.resolution.estimate:.1%}</strong> "
        f"({verdict.resolution.low:.1%} to {verdict.resolution.high:.1%})</p>"
    )
    if contents.model.overlap is not None:
        shares = " of the source words and ".join(percent(share) for share in contents.model.overlap)
        word += f'<p class="probability">Overlap: {shares} of the target words have a translation, estimated.</p>'
    meaning = f"{MEANING.get(verdict.word, '')} No dictionary was used to learn or to judge."
    cards = "".join(_evidence(name, value) for name, value in asdict(verdict.evidence).items())
    evidence = f'<h3>Evidence for the probability</h3><dl class="evidence">{cards}</dl>'
    body = f'<div class="verdict card"><div>{word}</div><div>{scale}</div><p>{text(meaning)}</p></div>{evidence}'
    return section("verdict", "Verdict", body)


def _evidence(name: str, value: Any) -> str:
    title, meaning = EVIDENCE.get(name, (name.replace("_", " ").capitalize(), ""))
    share = isinstance(value, float) and name not in ("twins", "lead", "errors", "least_errors", "dimensions")
    shown = percent(value) if share else number(value, 2)
    return (
        f'<div class="card"><dt>{text(title)}</dt><dd class="value">{text(shown)}</dd>{bar(value) if share else ""}'
        f"<dd>{text(meaning)}</dd></div>"
    )


def accuracy_section(contents: Contents) -> str:
    """Return the scores against the dictionary; an empty string without one."""
    scores = contents.scores
    if scores is None:
        return ""
    cards = [
        (f"Right at {name.partition('@')[2]}", percent(value, 1), bar(value))
        for name, value in scores.items()
        if name.startswith("precision@")
    ]
    cards += [
        ("MRR", f"{scores['mrr']:.3f}", bar(scores["mrr"])),
        ("Coverage", percent(scores["coverage"], 1), bar(scores["coverage"])),
        ("Queries", count(scores["queries"]), ""),
    ]
    shown = "".join(f'<div><dt>{text(a)}</dt><dd class="value">{text(b)}</dd>{c}</div>' for a, b, c in cards)
    note = (
        "“Right at 5” is the share of queries with a listed translation among the first five found; MRR is the mean "
        "reciprocal rank of the first listed one. Coverage is the share of the dictionary’s source words that are queries: "
        "those in the vocabulary with a listed translation in the other one. "
        f"Retrieval: {scores['retrieval']}. The dictionary was not used for learning."
    )
    body = f'<dl class="scores card">{shown}</dl><p class="soft">{text(note)}</p>'
    right = [float(row["precision@1"]) for row in contents.accuracies]
    if len(right) > 1:
        drawn = chart_card("chart-accuracy", right, "Right at 1 during learning", WATCHED, unit="measurement")
        body += f'<div class="charts">{drawn}</div>'
    return section("accuracy", "Accuracy against the dictionary", body)
