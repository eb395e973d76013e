"""The verdict, what it rests on and what to do; its evidence; the accuracy if there is a dictionary."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..alignment.judging.rule import RULE
from ..alignment.verdict import Verdict
from .contents import Contents
from .dynamics import chart_card
from .figures import probability_scale
from .markup import bar, count, fold, number, percent, section, text

WATCHED = (
    "After each stage of the solve, each round of refinement and each later step. The dictionary is used for measuring only, "
    "not for learning."
)
SIGNS = {"aligned": "✓", "coarse": "≈", "doubtful": "?", "failed": "✕"}
MEANING = {
    "aligned": "The two vocabularies are aligned.",
    "coarse": "The two vocabularies are aligned to within neighbourhoods: expect a related word rather than the translation.",
    "doubtful": "The evidence is not conclusive.",
    "failed": "The two vocabularies are not aligned: expect the translations below to be wrong.",
}
ADVICE = {
    "aligned": "Use the translations; single ones may still be wrong, especially those of rare words.",
    "coarse": "Use groups of words; check a single translation before you use it.",
    "doubtful": "Check the translations of words you know before you use the others.",
    "failed": "Do not use this model. More words, vectors from more similar texts, a few known pairs or the preset “best” may help.",
}

# Key in the evidence: title, and a text that continues the number shown before it.
EVIDENCE = {
    "split": (
        "Held-out {thing}s agree",
        "of the {thing}s are sent to the same target by a map fitted without them.",
    ),
    "points": ("{Thing}s tested", "source {thing}s on which this evidence was measured."),
    "twins": (
        "Nearer than neighbours",
        "is how much nearer held-out {thing}s lie to their targets than neighbours on one side lie to each other, as a "
        "part of that distance; between unlike spaces it is about 0, and far below where the map is wrong.",
    ),
    "nearer": (
        "Nearer than reflected",
        "standard errors nearer lie targets to a {thing} than under the reflected map that scores highest.",
    ),
    "drift": (
        "Neighbours lie alike",
        "is how much better the places of neighbours agree, at {thing}s and at their targets, than under reflected maps, as a correlation.",
    ),
    "shape": (
        "Neighbours spread alike",
        "standard errors lie between how neighbours spread under the map and under reflected ones.",
    ),
    "crowding": (
        "Crowded places agree",
        "standard errors lie between how crowded places meet under the map and under reflected ones.",
    ),
    "density": (
        "Crowded as its target",
        "is the correlation of how crowded {thing}s and their targets are.",
    ),
    "dimensions": ("Dimensions", "effective dimensions of the flatter space."),
    "better": ("Better answers", "answers of the default starts score higher."),
    "rivals": (
        "Rival maps",
        "other maps have the same score but send {thing}s to other targets. Above 0 the two sides may be symmetric, and the "
        "choice between the maps is then arbitrary.",
    ),
}


HINTS = ("try ", "seeds=", "known pairs", "pass ")  # how a reason that is advice can be told from one that is evidence


def verdict_section(contents: Contents) -> str:
    """Return the verdict, what it rests on, and what to do."""
    meaning = f"{MEANING.get(contents.model.verdict.word, '')} No dictionary was used to learn or to judge."
    advice = ADVICE.get(contents.model.verdict.word, "")
    meaning += describe_overlap(contents.model.overlap, "source words", "target words")
    return verdict_card(contents.model.verdict, "word", "its translation", meaning, advice)


def describe_overlap(overlap: tuple[float, float] | None, left: str, right: str) -> str:
    """Return the estimated overlap as a sentence; nothing where all points are matched."""
    if overlap is None:
        return ""
    return (
        f" Overlap, estimated: {overlap[0]:.0%} of the {left} and {overlap[1]:.0%} of the {right} have a counterpart."
    )


def verdict_card(verdict: Verdict, thing: str, other: str, meaning: str, advice: str) -> str:
    """Return the section with the verdict: one card."""
    scale = probability_scale(
        "probability", verdict.probability, (RULE["failed"], RULE["coarse"]), title=f"Probability {verdict.probability:.2f}",
        description=f"On a scale from 0 to 1: failed below {RULE['failed']:g}, right from {RULE['coarse']:g} on, "
        "doubtful between.",
    )  # fmt: skip
    word = (
        f'<p class="word {text(verdict.word)}"><span aria-hidden="true">{SIGNS.get(verdict.word, "•")}</span> '
        f'{text(verdict.word.capitalize())}</p><p class="probability">Probability that the map is right: '
        f"<strong>{verdict.probability:.2f}</strong></p>"
        f'<p class="probability">{thing.capitalize()}s nearer to the image of a {thing} than {text(other)}: '
        f"<strong>{verdict.resolution.estimate:.1%}</strong> "
        f"({verdict.resolution.low:.1%} to {verdict.resolution.high:.1%})</p>"
    )
    hints = [one for one in verdict.reasons if any(mark in one for mark in HINTS)]
    rests = "".join(f"<li>{text(_sentence(one))}</li>" for one in verdict.reasons if one not in hints)
    todo = "".join(f"<li>{text(_sentence(one))}</li>" for one in (advice, *hints) if one)
    body = f'<div class="verdict card"><div>{word}</div><div>{scale}</div><p>{text(meaning)}</p>'
    body += f'<h3>What it rests on</h3><ul class="plain">{rests}</ul>' if rests else ""
    body += f'<h3>What to do</h3><ul class="plain">{todo}</ul></div>' if todo else "</div>"
    return section("verdict", "Verdict", body)


def evidence_section(verdict: Verdict, thing: str) -> str:
    """Return all evidence with explanations, folded."""
    cards = "".join(_evidence(name, value, thing) for name, value in asdict(verdict.evidence).items())
    return fold("evidence", "All evidence for the probability", f'<dl class="evidence">{cards}</dl>')


def _sentence(told: str) -> str:
    return told[:1].upper() + told[1:] + ("" if told.endswith((".", "!", "?")) else ".")


def _evidence(name: str, value: Any, thing: str) -> str:
    title, meaning = EVIDENCE.get(name, (name.replace("_", " ").capitalize(), ""))
    title, meaning = (one.format(thing=thing, Thing=thing.capitalize()) for one in (title, meaning))
    plain = ("twins", "nearer", "drift", "shape", "crowding", "dimensions")
    share = isinstance(value, float) and name not in plain
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
