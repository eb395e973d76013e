"""
In a scikit-learn pipeline
==========================

``InvariantAligner`` is a transformer: here a classifier trained in one space serves points of another, unlabelled space.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import invarot

rng = np.random.default_rng(0)
centres = np.array([[0, 0, 0], [4, 0, 1], [1, 5, 0], [0, 1, 7.0]])
label = rng.choice(4, 800, p=[0.4, 0.3, 0.2, 0.1])
points = centres[label] + rng.normal(size=(800, 3)) * [1.0, 0.7, 0.5]
turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]

labelled, classes = points[:400] @ turn + 2.0, label[:400]  # the space where labels are known
plain = points[400:]  # another space: other points, no labels
classifier = KNeighborsClassifier().fit(labelled, classes)

aligner = invarot.InvariantAligner(translate=True).fit(plain, labelled)
print(aligner.verdict_)
print(f"without the alignment: {classifier.score(plain, label[400:]):.0%} of the classes right")
print(f"with it:               {classifier.score(aligner.transform(plain), label[400:]):.0%}")

# In a pipeline: scale, align, and hand on to the next step.
scaled = StandardScaler().fit_transform(labelled)
pipeline = make_pipeline(StandardScaler(), invarot.InvariantAligner(p=invarot.Schatten(2, whiten=True)))
print("columns that come out:", list(pipeline.fit(plain, scaled).get_feature_names_out()))

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for panel, cloud, title in zip(panels, (plain, aligner.transform(plain)), ("before", "after"), strict=True):
    panel.scatter(*labelled[:, :2].T, s=8, c=[f"C{k}" for k in classes], alpha=0.4)
    panel.scatter(*cloud[:, :2].T, s=6, color="black")
    panel.set_title(f"{title}: black points have no labels", fontsize=10)
