"""
Tag images
==========

Images of handwritten digits, tagged with *even*, *loop*, *5 or more* and *straight* (strokes) instead of one class.
Half of the training tags are missing. Other image features, such as embeddings of a neural network, work the same way.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from spmld import LabelPrior, MaskedBoosting, MaskedLogistic
from spmld.labels import hide_labels
from spmld.metrics import evaluate

TAGS = {"even": {0, 2, 4, 6, 8}, "loop": {0, 6, 8, 9}, "5 or more": {5, 6, 7, 8, 9}, "straight": {1, 4, 7}}

digits = load_digits()
X = digits.data / 16
Y = np.array([[digit in members for members in TAGS.values()] for digit in digits.target], dtype=float)
train, test = slice(0, 1200), slice(1200, None)
Y_train = hide_labels(Y[train], observed_fraction=0.5, random_state=0)

# %%
# Tags such as *even* are not linear functions of the pixels, so boosted trees are better than a linear model.
models = {
    "LabelPrior": LabelPrior(),
    "MaskedLogistic": MaskedLogistic(),
    "MaskedBoosting": MaskedBoosting(random_state=0),
}
print(f"{'':<16}{'subset accuracy':>16}{'macro F1':>10}{'ranking loss':>14}")
for name, model in models.items():
    model.fit(X[train], Y_train)
    metrics = evaluate(Y[test], model.decision_function(X[test]), model.predict(X[test]))
    print(f"{name:<16}{metrics['subset_accuracy']:>16.3f}{metrics['macro_f1']:>10.3f}{metrics['ranking_loss']:>14.3f}")

# %%
# The first test images with the tags predicted by MaskedBoosting. Wrong predictions are red.
predicted = models["MaskedBoosting"].predict(X[test])
figure, axes = plt.subplots(2, 6, figsize=(10, 4.6), layout="constrained")
for axis, image, tags, true in zip(axes.flat, digits.images[test], predicted, Y[test], strict=False):
    axis.imshow(image, cmap="gray_r")
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)
    text = "\n".join(tag for tag, positive in zip(TAGS, tags, strict=True) if positive) or "none"
    axis.set_xlabel(text, color="black" if (tags == true).all() else "#D55E00")
figure.suptitle("Predicted tags of test images")
plt.show()
