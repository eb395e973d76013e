"""
Words from Python
=================

``learn`` takes two vocabularies and no dictionary; the model translates, is judged, saved and loaded.
"""

import tempfile
from pathlib import Path

from matplotlib import pyplot as plt

from invarot.translation import learn, load
from invarot.words import load_core_pair

# 5,000 English and 5,000 Spanish words come with the package; read_vectors("wiki.en.vec") reads yours.
english, spanish, gold = load_core_pair()
print(english)
model = learn(english.first(2000), spanish.first(2000), how="fast")
print(model)

words = ["house", "water", "friday", "doctor"]
for word, best in model.translate([word for word in words if word in model.source.index()], k=3).items():
    print(f"{word:<8} →", ", ".join(f"{one} ({score:.2f})" for one, score in best))

# The hand-written list is only used to score.
scores = model.evaluate(gold)
print(f"{scores['precision@1']:.0%} of {scores['queries']} everyday words right at 1")

with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "en-es")
    again = load(Path(folder) / "en-es")
    print("after loading:", again.translate("water", k=1))
    model.report(Path(folder) / "en-es.html", dictionary=gold)  # one self-contained page

# The accuracy that the page shows, by how many candidates count.
plt.figure(figsize=(5, 3), layout="constrained")
at = (1, 5, 10)
plt.bar([str(k) for k in at], [100 * scores[f"precision@{k}"] for k in at], color="#1f6f8b")
plt.xlabel("candidates")
plt.ylabel("per cent with a right one")
