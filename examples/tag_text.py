"""
Tag text
========

A pipeline from strings to tags, with a vectorizer of scikit-learn before the estimator. The reviews are partly
annotated: 60 % of the tags were never checked, and are therefore missing instead of negative.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from spmld import LabelPrior, MaskedLogistic
from spmld.labels import hide_labels
from spmld.metrics import evaluate

# %%
# Hotel reviews, generated from phrases. A review has any number of tags.
PHRASES = {
    "breakfast": [
        "fresh bread in the morning",
        "the coffee was cold",
        "a rich breakfast buffet",
        "eggs as we like them",
    ],
    "noise": ["the street kept us awake", "thin walls", "a loud bar below the room", "doors slammed all night"],
    "staff": [
        "the porter helped at once",
        "friendly people at the desk",
        "nobody answered the bell",
        "a rude receptionist",
    ],
    "location": [
        "close to the station",
        "a walk of two minutes to the beach",
        "far from the center",
        "right by the museum",
    ],
    "price": ["cheap for what you get", "far too expensive", "fair rates", "we paid twice what the site had said"],
}
FILLERS = ["we stayed three nights", "our second visit", "a trip with the children", "booked on short notice"]
TAGS = list(PHRASES)

rng = np.random.default_rng(0)
Y = (rng.uniform(size=(500, len(TAGS))) < 0.35).astype(float)
mentioned = Y * (rng.uniform(size=Y.shape) < 0.85)  # some tags are not mentioned in the text
texts = [
    ". ".join(
        rng.permutation(
            [
                rng.choice(FILLERS),
                *(rng.choice(PHRASES[tag]) for tag, positive in zip(TAGS, row, strict=True) if positive),
            ]
        )
    )
    for row in mentioned
]
print(texts[0])

# %%
# Missing tags are NaN. The vectorizer and the model form one pipeline, which can be tuned and saved as a whole.
train, test = slice(0, 300), slice(300, None)
Y_train = hide_labels(Y[train], observed_fraction=0.4, random_state=0)
model = make_pipeline(TfidfVectorizer(stop_words="english"), MaskedLogistic(C=3)).fit(texts[train], Y_train)
prior = make_pipeline(TfidfVectorizer(), LabelPrior()).fit(texts[train], Y_train)

print(f"{'':<18}{'ranking loss':>14}{'macro F1':>10}")
for name, pipeline in (("prior", prior), ("MaskedLogistic", model)):
    metrics = evaluate(Y[test], pipeline.decision_function(texts[test]), pipeline.predict(texts[test]))
    print(f"{name:<18}{metrics['ranking_loss']:>14.3f}{metrics['macro_f1']:>10.3f}")

# %%
# The most likely tags of new texts, with their probabilities.
for text in ("Great coffee, but the walls are thin.", "Fair rates, and close to the beach."):
    probabilities = zip(TAGS, model.predict_proba([text])[0], strict=True)
    print(text, {tag: round(float(p), 2) for tag, p in probabilities if p > 0.4})

# %%
# The words with the largest coefficients of each tag.
words = model[0].get_feature_names_out()
figure, axes = plt.subplots(1, len(TAGS), figsize=(10, 2.6), sharex=True, layout="constrained")
for axis, tag, coefficients in zip(axes, TAGS, model[-1].coef_, strict=True):
    top = np.argsort(coefficients)[-6:]
    axis.barh(words[top], coefficients[top], color="#0072B2")
    axis.set(title=tag)
    axis.spines[["top", "right"]].set_visible(False)
figure.supxlabel("coefficient")
plt.show()
