from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.report import write_page
from invarot.report.page import short_name
from invarot.words import load_core_pair

from .models import known_model
from .page_check import read_page


@pytest.fixture
def model():
    return known_model()


def written(model, folder, **options):
    path = folder / "page.html"
    write_page(model, path, **options)
    return path.read_text(encoding="utf-8")


def test_every_part_is_there_and_nothing_trips_a_screen_reader(model, tmp_path):
    tree, problems = read_page(written(model, tmp_path))
    assert problems == []
    assert [node.get("id") for node in tree.all("section")] == [
        "verdict", "explorer", "translations", "evidence", "dynamics", "spaces", "settings",
    ]  # fmt: skip
    folded = [node.parent.get("id") for node in tree.all("details") if node.get("class") == "fold"]
    assert folded == ["evidence", "dynamics", "spaces", "settings"]
    assert tree.all("h1")[0].text == "wiki.en → <es>"
    assert tree.all("html")[0].get("lang") == "en"
    verdict = tree.all("section")[0].text
    assert "Aligned" in verdict
    assert "0.97" in verdict
    assert "What it rests onBecause.What to do" in verdict
    assert not tree.all("section")[0].all("dl")  # one card, and no more
    verdict = tree.all("section")[3].text
    for shown in ("41 %", "0.8", "55 %", "0.07", "1,234"):
        assert shown in verdict
    assert {node.get("id") for node in tree.all("svg")} >= {
        "chart-objective", "chart-epsilon", "chart-map-change", "chart-plan-change", "chart-refine-pairs",
        "after-wide", "after-narrow", "before-source-wide", "before-target-narrow",
    }  # fmt: skip


def test_steps_that_were_measured_are_drawn(model, tmp_path):
    assert "chart-right" not in written(model, tmp_path)
    for i, row in enumerate(row for row in model.history if row["stage"] == "solve 50"):
        row["right"] = 0.2 * i
    tree, problems = read_page(written(model, tmp_path))
    assert problems == []
    chart = next(node for node in tree.all("svg") if node.get("id") == "chart-right")
    assert "From 0 to 0.8" in chart.text
    steps = next(node for node in tree.all("table") if node.all("caption")[0].text == "Steps of the solver")
    assert [cell.text for cell in steps.all("th")][-1] == "right"


def test_the_table_holds_the_known_translations(model, tmp_path):
    tree, _ = read_page(written(model, tmp_path))
    table = next(node for node in tree.all("table") if node.get("id") == "words")
    rows = [[cell.text.strip() for cell in row.all("td") + row.all("th")] for row in table.all("tbody")[0].all("tr")]
    assert len(rows) == 50
    for i, (rank, best, score, *others, word) in enumerate(rows):
        assert (rank, word, best) == (str(i + 1), f"s{i}", f"t{i}")
        assert len(others) == 2
        assert float(score.replace("−", "-")) == pytest.approx(model.translate([word], k=1)[word][0][1], abs=1e-3)
    sorts = [cell.get("aria-sort") for cell in table.all("thead")[0].all("th")]
    assert sorts == ["ascending", "none", "none", "none", "", ""]


def test_scores_and_marks_come_with_a_dictionary(model, tmp_path):
    assert 'id="accuracy"' not in written(model, tmp_path)
    pairs = [("s0", "t0"), ("s1", "t1"), ("s2", "t9"), ("absent", "t3")]
    page = written(model, tmp_path, dictionary=pairs)
    tree, problems = read_page(page)
    assert problems == []
    scores = next(node for node in tree.all("section") if node.get("id") == "accuracy").text
    assert "66.7 %" in scores  # two of three at 1
    assert "75.0 %" in scores  # three of four source words could be asked
    body = next(node for node in tree.all("table") if node.get("id") == "words").all("tbody")[0]
    marked = [
        row.all("th")[0].text for row in body.all("tr") if any(one.get("class") == "right" for one in row.all("span"))
    ]
    assert marked == ["s0", "s1"]
    file = tmp_path / "gold.txt"
    file.write_text("".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")
    assert written(model, tmp_path, dictionary=file) == page


def test_words_are_text_and_never_markup(tmp_path):
    page = written(known_model(hostile=True), tmp_path)
    tree, problems = read_page(page)
    assert problems == []
    assert [node.get("type") for node in tree.all("script")] == ["application/json", ""]
    assert not tree.all("img")
    assert not tree.all("b")
    assert not set(page) & {"\x00", "\u2028", "\u202e", "\ud800"}
    words = {node.text for node in tree.all("bdi")}
    assert {"<script>alert(1)</script>", "</title></style>&amp;\"'`", "دیوان‌سالاری", "𝔘nicode 語"} <= words
    assert "\ufffdesrever line\ufffdnul\ufffdhalf" in words
    assert "dropped <b>one</b>" in tree.all("li")[-1].text


def test_the_page_loads_nothing_and_runs_only_its_own_script(model, tmp_path):
    page = written(model, tmp_path)
    tree, _ = read_page(page)
    assert not re.search(r"\bsrc=|@import|url\(", page)
    assert re.findall(r"https?://[\w./]+", page) == ["http://www.w3.org/2000/svg"]  # a name, not an address to load
    policy = next(
        node.get("content") for node in tree.all("meta") if node.get("http-equiv") == "Content-Security-Policy"
    )
    digest = base64.b64encode(hashlib.sha256(tree.all("script")[-1].text.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize(("dims", "count"), [((1, 1), 12), ((6, 9), 50), ((9, 6), 60), ((40, 2), 30)])
def test_any_dimensions(dims, count, tmp_path):
    page = written(known_model(count, dims=dims), tmp_path)
    _, problems = read_page(page)
    assert problems == []
    assert "nan" not in page.replace("finance", "")


@pytest.mark.parametrize(
    ("word", "said"), [("failed", "expect these translations to be wrong"), ("doubtful", "is not conclusive")]
)
def test_a_bad_verdict_is_said_plainly(word, said, tmp_path):
    page = written(known_model(word=word, rivals=2), tmp_path)
    assert said in page
    assert f"<title>{word.capitalize()}:" in page


def test_the_file_appears_whole_or_not_at_all(model, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")
    monkeypatch.setattr("invarot.files.os.fsync", lambda descriptor: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_page(model, path)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_bad_paths_and_dictionaries_are_refused_before_anything_is_written(model, tmp_path):
    with pytest.raises(InputError, match="create the directory first"):
        write_page(model, tmp_path / "none" / "page.html")
    with pytest.raises(InputError, match="check its direction"):
        write_page(model, tmp_path / "page.html", dictionary=[("t1", "s1")])
    assert list(tmp_path.iterdir()) == []


def test_no_history_no_settings(model, tmp_path):
    """A model that was put together by hand still has a page."""
    bare = type(model)(**{**vars(model), "history": [], "settings": {}})
    assert read_page(written(bare, tmp_path))[1] == []


def test_the_steps_are_listed_with_what_was_not_applied(model, tmp_path):
    tree, _ = read_page(written(model, tmp_path))
    settings = next(node for node in tree.all("section") if node.get("id") == "settings").text
    assert "not applied: 50 words, fewer than 10,000" in settings
    assert "local centring" in settings
    dynamics = next(node for node in tree.all("section") if node.get("id") == "dynamics").text
    assert "Time: 2.0 s" in dynamics


def test_many_words_stay_small(tmp_path):
    assert len(written(known_model(4000), tmp_path).encode()) < 1_500_000


def test_a_learned_model(tmp_path):
    from invarot.translation import learn, recipe

    english, spanish, gold = load_core_pair()
    assert "chart-accuracy" not in written(known_model(60), tmp_path)
    model = learn(english.first(520), spanish.first(540), how=recipe("fast", start="signature"), dictionary=gold)
    page = written(model, tmp_path, dictionary=gold)
    tree, problems = read_page(page)
    assert problems == []
    assert tree.all("h1")[0].text == "core_en → core_es"
    watched = [row["precision@1"] for row in model.history if "precision@1" in row]
    chart = next(node for node in tree.all("svg") if node.get("id") == "chart-accuracy")
    assert f"in {len(watched)} measurements" in chart.text
    assert f"{100 * model.evaluate(gold)['precision@1']:.1f} %" in page
    labels = [node for node in tree.all("text") if node.get("class").startswith("label")]
    assert len(labels) > 40


def test_short_names():
    given = "/data/wiki.en.vec.gz", "es.npz", "memory", "word2vec.zh", "core pair, core_en.npz", ""
    assert [short_name(one) for one in given] == ["wiki.en", "es", "memory", "word2vec.zh", "core_en", ""]


def test_the_same_model_gives_the_same_page(model, tmp_path):
    assert written(model, tmp_path) == written(model, tmp_path)
    assert np.isfinite(model.clouds[0]).all()


def test_a_large_vocabulary_is_looked_up_in_part_and_says_so(model, tmp_path, monkeypatch):
    for module in ("contents", "listing"):
        monkeypatch.setattr(f"invarot.report.{module}.SEARCHED", 40)
    monkeypatch.setattr("invarot.report.contents.TABLE_ROWS", 10)
    tree, _ = read_page(written(model, tmp_path))
    section = next(node for node in tree.all("section") if node.get("id") == "translations")
    assert "The first 10 of 50 source words" in section.text
    assert "limited to the first 40 words of each side" in section.text
    assert len(section.all("tbody")[0].all("tr")) == 10


def read_points(page):
    tree, _ = read_page(page)
    return json.loads(next(node for node in tree.all("script") if node.get("id") == "points").text)


def test_the_explorer_holds_every_word_and_its_translations(tmp_path):
    data = read_points(written(known_model(60), tmp_path))
    assert data["names"] == [[f"s{i}" for i in range(60)], [f"t{i}" for i in range(60)]]
    assert data["matches"][:: data["k"]] == list(range(60))
    for view in ("before", "after"):
        assert all(len(places) == 120 and min(places) >= 0 and max(places) <= 9999 for places in data[view])
    source, target = (np.reshape(places, (-1, 2)) for places in data["after"])
    assert np.abs(source - target).max() <= 2  # translations lie on each other


def test_words_without_a_translation_get_none(tmp_path):
    model = known_model(60)
    model.settings["overlap"] = [0.75, 0.9]
    lacking = [set(model.find_untranslated(reverse=back)) for back in (False, True)]
    assert [len(words) for words in lacking] == [15, 6]
    page = written(model, tmp_path, dictionary=[(f"s{i}", f"t{i}") for i in range(60)])
    tree, problems = read_page(page)
    assert problems == []
    body = next(node for node in tree.all("table") if node.get("id") == "words").all("tbody")[0]
    rows = {row.all("th")[0].text: [cell.text for cell in row.all("td")] for row in body.all("tr")}
    assert {word for word, cells in rows.items() if cells[1] == "no translation"} == lacking[0]
    assert {len(cells) for cells in rows.values()} == {5}
    assert "15 of all have no translation." in page
    data = read_points(page)
    assert [{names[i] for i in loose} for names, loose in zip(data["names"], data["loose"], strict=True)] == lacking
    drawn = {node.text for node in tree.all("text")}
    assert not drawn & lacking[0]


def test_hostile_words_cannot_leave_the_data(tmp_path):
    page = written(known_model(hostile=True), tmp_path)
    assert read_points(page)["names"][0][0] == "<script>alert(1)</script>"
    assert page.count("</script>") == 2
