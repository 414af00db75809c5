"""
Tags of raw text
================

From strings to tags, with a vectorizer of scikit-learn before the estimator. Somebody tagged the reviews in passing: of
the tags 60 % were never looked at, and those are missing, not "no".
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from spmld import LabelPrior, MaskedLogistic
from spmld.labels import hide_labels
from spmld.metrics import evaluate

# %%
# Reviews of hotels, put together from parts. A review may have several tags or none.
PARTS = {
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
        "far from the centre",
        "right by the museum",
    ],
    "price": ["cheap for what you get", "far too expensive", "fair rates", "we paid twice what the site had said"],
}
FILLERS = ["we stayed three nights", "our second visit", "a trip with the children", "booked on short notice"]
TAGS = list(PARTS)

rng = np.random.default_rng(0)
Y = (rng.uniform(size=(500, len(TAGS))) < 0.35).astype(float)
said = Y * (rng.uniform(size=Y.shape) < 0.85)  # some tags are of what the text does not mention
texts = [
    ". ".join(
        rng.permutation(
            [rng.choice(FILLERS), *(rng.choice(PARTS[tag]) for tag, has in zip(TAGS, row, strict=True) if has)]
        )
    )
    for row in said
]
print(texts[0])

# %%
# The gaps are NaN. Vectorizer and model are one pipeline, which takes strings and can be tuned and saved as a whole.
train, test = slice(0, 300), slice(300, None)
known = hide_labels(Y[train], observed_fraction=0.4, random_state=0)
model = make_pipeline(TfidfVectorizer(stop_words="english"), MaskedLogistic(C=3)).fit(texts[train], known)
prior = make_pipeline(TfidfVectorizer(), LabelPrior()).fit(texts[train], known)

print(f"{'':<18}{'ranking loss':>14}{'macro F1':>10}")
for name, each in (("prior", prior), ("MaskedLogistic", model)):
    found = evaluate(Y[test], each.decision_function(texts[test]), each.predict(texts[test]))
    print(f"{name:<18}{found['ranking_loss']:>14.3f}{found['macro_f1']:>10.3f}")

# %%
# What the model looks at: the words with the largest coefficients of each tag.
words = model[0].get_feature_names_out()
for tag, weights in zip(TAGS, model[-1].coef_, strict=True):
    print(f"{tag:<11}", ", ".join(words[np.argsort(weights)[::-1][:4]]))

# %%
# New text, with the probability of each tag.
for text in ("Great coffee, but the walls are thin.", "Fair rates, and close to the beach."):
    probabilities = zip(TAGS, model.predict_proba([text])[0], strict=True)
    print(text, {tag: round(float(p), 2) for tag, p in probabilities if p > 0.4})
