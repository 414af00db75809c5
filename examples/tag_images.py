"""
Tags of images
==============

Handwritten digits with tags in place of a class: *even*, *has a loop*, *five or more*, *straight strokes only*. Half
of the tags of the training images are missing. Any features of images do as well, such as those of a network.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from spmld import LabelPrior, MaskedLogistic, MLkNN
from spmld.labels import hide_labels
from spmld.metrics import evaluate

TAGS = {"even": {0, 2, 4, 6, 8}, "loop": {0, 6, 8, 9}, "5 or more": {5, 6, 7, 8, 9}, "straight": {1, 4, 7}}

digits = load_digits()
X = digits.data / 16
Y = np.array([[digit in members for members in TAGS.values()] for digit in digits.target], dtype=float)
train, test = slice(0, 1200), slice(1200, None)
known = hide_labels(Y[train], observed_fraction=0.5, random_state=0)

# %%
# Tags such as *even* are no linear function of the pixels: neighbours know more of them than a linear model does.
models = {"LabelPrior": LabelPrior(), "MaskedLogistic": MaskedLogistic(), "MLkNN": MLkNN(n_neighbors=5)}
print(f"{'':<16}{'subset accuracy':>16}{'macro F1':>10}{'ranking loss':>14}")
for name, model in models.items():
    model.fit(X[train], known)
    found = evaluate(Y[test], model.decision_function(X[test]), model.predict(X[test]))
    print(f"{name:<16}{found['subset_accuracy']:>16.3f}{found['macro_f1']:>10.3f}{found['ranking_loss']:>14.3f}")

# %%
# The first test images with the tags that MLkNN gives them. What is wrong stands in red.
predicted = models["MLkNN"].predict(X[test])
figure, axes = plt.subplots(2, 6, figsize=(10, 4.6), layout="constrained")
for axis, image, said, true in zip(axes.flat, digits.images[test], predicted, Y[test], strict=False):
    axis.imshow(image, cmap="gray_r")
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)
    text = "\n".join(tag for tag, has in zip(TAGS, said, strict=True) if has) or "none"
    axis.set_xlabel(text, color="black" if (said == true).all() else "#D55E00")
figure.suptitle("Tags of images that were not trained on")
plt.show()
