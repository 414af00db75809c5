"""Consensus of real and of simulated annotators, compared with a vote, Dawid-Skene for each label, and crowd-kit.

``python -m benchmarks.annotators [data set ...]`` takes a few minutes and requires the data sets, from SPMLD_DATA or by
download. Log losses clip probabilities to [0.001, 0.999]. The vote is smoothed: (positive answers + f) / (answers + 1)
with the frequency f of positive answers of the label. Dawid-Skene is the EM algorithm with one error and one correct
answer added to each count. crowd-kit is its Dawid-Skene, with its own defaults, if it is installed.

The first table has real annotators: emotions in texts of three languages (SemEval 2025, task 11), with TF-IDF of
characters, 2- to 4-grams, as features. For each text, half of the annotators are held out; of an odd number, one more
or one less at random. "fraction" is the log loss of the fraction of positive held-out answers, "accuracy" that of the
held-out majority, without ties, and "answers" the log loss of single held-out answers. Means of seeds 0 to 2. In the
chest radiographs, three readers predict the majority of five others.

The second table has simulated annotators, who flip a hidden bit. There are 2 to 7 of them; each answers a random 30 %
of the entries. The rates of an annotator are drawn from Beta distributions with the means 0.08 (false positives) and
0.25 (false negatives) and strength 8, and those of its labels from Beta distributions around these with strength 12.
Seeds 0 to 2. The output is the log loss and the accuracy of the bits of entries with an answer; the consensus is the
probability that the panel leans to yes. "error rate" is the mean absolute error of the estimated rates.

The third table has the fraction of 90 % intervals of error rates that contain the true one, in four designs.
"""

import sys

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.sizes import sized
from spmld.annotators import find_consensus, fit_consensus, read_annotators
from spmld.datasets.registry import find_file
from spmld.labels import read_labels
from studies.data import load

LANGUAGES = {"Afrikaans": "afr", "Romanian": "ron", "Swedish": "swe"}
READERS = ("bc4", "bc6", "bc8")
N_TEXTS = sized(None, 60)
NAMES = sized(("emotions", "scene", "medical", "business"), ("planted",))
COUNTS = range(2, sized(8, 3))
SEEDS = range(sized(3, 1))
METHODS = ("vote", "Dawid-Skene", "answers", "consensus")
COLUMNS = (*METHODS, *METHODS, "error rate")
COVERAGE_SEEDS = range(sized(15, 1))


def main(names=NAMES):
    real_annotators()
    simulated_annotators(names)
    coverage()


def real_annotators():
    print(f"{'data':<12}{'method':<20}{'fraction':>12}{'accuracy':>12}{'answers':>12}")
    for language, code in LANGUAGES.items():
        try:
            X, answers = read_texts(code)
        except FileNotFoundError as error:
            print(f"{language}: {error}")
            continue
        found = [held_out_scores(X, answers, seed) for seed in SEEDS]
        for method in found[0]:
            print(f"{language:<12}{method:<20}" + format_row(np.mean([scores[method] for scores in found], axis=0)))
    try:
        answers, truth = read_radiographs()
    except FileNotFoundError as error:
        print(f"radiographs: {error}")
        return
    for method, (_, p, _) in predictions(None, answers).items():
        print(f"{'radiographs':<12}{method:<20}" + format_row([log_loss(truth, p), np.mean((p > 0.5) == truth)]))


def read_texts(code):
    """Return features and answers of shape (n_samples, n_annotators, n_labels)."""
    table = pd.read_csv(find_file(f"{code}_individuals.csv"))
    text = next(name for name in table if name in ("text", "text_content"))
    people = [name for name in table if name.lower().startswith("annotator")]
    rows, texts = pd.factorize(table[text])
    labels, emotions = pd.factorize(table["emotion"])
    answers = np.full((len(texts), len(people), len(emotions)), np.nan)
    answers[rows, :, labels] = table[people].gt(0).astype(float).where(table[people].notna())
    X = TfidfVectorizer(analyzer="char", ngram_range=(2, 4), min_df=2, sublinear_tf=True).fit_transform(texts[:N_TEXTS])
    return X, answers[:N_TEXTS]


def read_radiographs():
    """Return the answers of three readers, and the majority of five others."""
    truth = pd.read_csv(find_file("groundtruth.csv"), index_col=0)
    readers = [pd.read_csv(find_file(f"{name}.csv"), index_col=0) for name in READERS]
    answers = [reader.loc[truth.index, truth.columns] for reader in readers]
    return np.stack(answers, axis=1).astype(float), truth.to_numpy() > 0


def hold_out(answers, seed):
    """Return the answers of half of the annotators of each sample, and those of the others."""
    rng = np.random.default_rng(seed)
    given = np.zeros(answers.shape[:2], dtype=bool)
    for i, answered in enumerate(~np.isnan(answers).all(axis=2)):
        people = rng.permutation(np.flatnonzero(answered))
        given[i, people[: (len(people) + rng.integers(2)) // 2]] = True
    return np.where(given[:, :, None], answers, np.nan), np.where(given[:, :, None], np.nan, answers)


def held_out_scores(X, answers, seed):
    """Return the log loss of the fraction, the accuracy of the majority, and the log loss of answers of each method."""
    given, held = hold_out(answers, seed)
    n_held = (~np.isnan(held)).sum(axis=1)
    fraction = np.nansum(held, axis=1) / np.maximum(n_held, 1)
    decided = (n_held > 0) & (fraction != 0.5)
    scores = {}
    for method, (share, majority, single) in predictions(X, given).items():
        correct = ((majority > 0.5) == (fraction > 0.5))[decided].mean()
        scores[method] = log_loss(fraction[n_held > 0], share[n_held > 0]), correct, log_loss(held, single)
    return scores


def predictions(X, answers):
    """Return, for each method, the fraction, the probability of a majority, and the probability of each answer."""
    vote = smoothed_vote(answers)
    p, alpha, beta = dawid_skene(answers)
    found = {"vote": (vote, vote, vote[:, None]), "Dawid-Skene": (p, p, alpha + (1 - alpha - beta) * p[:, None])}
    try:
        p = crowd_kit(answers)
        found["crowd-kit"] = p, p, p[:, None]
    except ImportError:
        pass
    results = {"answers": find_consensus(answers)}
    if X is not None:
        results["answers and features"] = fit_consensus(X, answers)
    for name, result in results.items():
        found[name] = result.panel_fraction, result.probabilities, result.answer_probabilities
    return found


def log_loss(target, p):
    p = np.clip(p, 1e-3, 1 - 1e-3)
    return -np.nanmean(target * np.log(p) + (1 - target) * np.log(1 - p))


def smoothed_vote(answers):
    answered = ~np.isnan(answers)
    frequency = (np.nansum(answers, axis=(0, 1)) + 0.5) / (answered.sum(axis=(0, 1)) + 1)
    return (np.nansum(answers, axis=1) + frequency) / (answered.sum(axis=1) + 1)


def dawid_skene(answers, n_iterations=50):
    """Return the probability of each label, and the rates of each annotator and label."""
    p = smoothed_vote(answers)
    positive, negative = answers == 1, answers == 0
    answered = positive | negative
    for _ in range(n_iterations):
        q = p[:, None]
        alpha = ((positive * (1 - q)).sum(axis=0) + 1) / ((answered * (1 - q)).sum(axis=0) + 2)
        beta = ((negative * q).sum(axis=0) + 1) / ((answered * q).sum(axis=0) + 2)
        any_answer = answered.any(axis=1)
        frequency = ((p * any_answer).sum(axis=0) + 1) / (any_answer.sum(axis=0) + 2)
        evidence = positive * np.log((1 - beta) / alpha) + negative * np.log(beta / (1 - alpha))
        p = expit(logit(frequency) + evidence.sum(axis=1))
    return p, alpha, beta


def crowd_kit(answers):
    """Return the probability of each label by the Dawid-Skene of crowd-kit; the vote where there is no answer."""
    from crowdkit.aggregation import DawidSkene

    p = smoothed_vote(answers)
    for j in range(p.shape[1]):
        samples, annotators = np.nonzero(~np.isnan(answers[:, :, j]))
        values = answers[samples, annotators, j].astype(int)
        table = pd.DataFrame({"task": samples, "worker": annotators, "label": values})
        found = DawidSkene(n_iter=100).fit_predict_proba(table).reindex(columns=[0, 1], fill_value=0.0)
        p[found.index, j] = found[1]
    return p


def simulated_annotators(names):
    print(f"\n{'':<10}{'':>4}{'log loss':>48}{'accuracy':>48}")
    print(f"{'data':<10}{'n':>4}" + "".join(f"{name:>12}" for name in COLUMNS))
    rows = []
    for name in names:
        data = load(name)
        truth = read_labels(data.Y).signs > 0
        for n_annotators in COUNTS:
            found = [evaluate(data.X, truth, n_annotators, seed) for seed in SEEDS]
            rows += found
            print(f"{name:<10}{n_annotators:>4}" + format_row(np.mean(found, axis=0)), flush=True)
    table = np.array(rows)
    parts = dict(zip(names, np.split(table, len(names)), strict=True))
    for name, part in [*parts.items(), ("all", table)]:
        print(f"{name:<10}mean" + format_row(part.mean(axis=0)))
    for name, part in [*parts.items(), ("all", table)]:
        for j, method in enumerate(METHODS[:3]):
            wins, right = (part[:, 3] < part[:, j]).sum(), (part[:, 7] > part[:, 4 + j]).sum()
            print(f"{name}: lower log loss than {method} in {wins}, higher accuracy in {right} of {len(part)} runs")
        print(f"{name}: error rates within 0.03 in {(part[:, 8] < 0.03).sum()} of {len(part)} runs")


def format_row(values):
    return "".join(f"{value:>12.4f}" for value in values)


def evaluate(X, truth, n_annotators, seed):
    """Return log losses and accuracies of the methods, and the mean error of the error rates."""
    answers = simulate(truth, n_annotators, np.random.default_rng(seed))
    consensus = fit_consensus(X, answers)
    probabilities = (
        smoothed_vote(answers),
        dawid_skene(answers)[0],
        find_consensus(answers).leaning,
        consensus.leaning,
    )
    answered = read_annotators(answers).counts > 0
    losses = [log_loss(truth[answered], p[answered]) for p in probabilities]
    accuracies = [((p > 0.5) == truth)[answered].mean() for p in probabilities]
    wrong = np.where(np.isnan(answers), np.nan, (answers == 1) != truth[:, None])
    rates = [row["error_rate"] for row in consensus.annotator_quality()]
    return [*losses, *accuracies, np.abs(rates - np.nanmean(wrong, axis=(0, 2))).mean()]


def simulate(truth, n_annotators, rng, answered=0.3):
    """Return answers of shape (n_samples, n_annotators, n_labels), NaN where missing."""
    return draw_answers(flip_probabilities(truth, n_annotators, rng), rng, answered)


def flip_probabilities(truth, n_annotators, rng):
    """Return the probability of each positive answer if annotators flip a hidden bit."""
    means = [np.clip(rng.beta(8 * m, 8 * (1 - m), size=(n_annotators, 1)), 0.005, 0.95) for m in (0.08, 0.25)]
    size = n_annotators, truth.shape[1]
    alpha, beta = (rng.beta(12 * mean, 12 * (1 - mean), size=size) for mean in means)
    return np.where(truth[:, None], 1 - beta, alpha)


def draw_answers(p, rng, answered):
    answers = (rng.random(p.shape) < p).astype(float)
    return np.where(rng.random(p.shape) < answered, answers, np.nan)


def coverage():
    """Print how many intervals of error rates contain the rate of all answers, given or not."""
    print(f"\n{'design':<32}{'coverage':>12}{'error':>12}{'width':>12}")
    for name, design in DESIGNS.items():
        rows = []
        for seed in COVERAGE_SEEDS:
            rng = np.random.default_rng(seed)
            leaning, p, answered = design(rng)
            expected = np.where(leaning[:, None], 1 - p, p).mean(axis=(0, 2))
            quality = find_consensus(draw_answers(p, rng, answered)).annotator_quality()
            for row, rate in zip(quality, expected, strict=True):
                low, high = row["error_rate_interval"]
                rows.append([low < rate < high, abs(row["error_rate"] - rate), high - low])
        print(f"{name:<32}" + format_row(np.mean(rows, axis=0)), flush=True)


def hidden_bits(n, n_annotators, n_labels, frequency, answered):
    def draw(rng):
        truth = rng.random((n, n_labels)) < frequency
        return truth, flip_probabilities(truth, n_annotators, rng), answered

    return draw


def clear_samples(n, n_annotators, n_labels, mean, answered):
    def draw(rng):
        clarity = rng.normal(mean, 2.5, (n, 1, n_labels))
        p = expit(clarity + rng.normal(0, 0.8, (n_annotators, n_labels)))
        return p.mean(axis=1) > 0.5, p, answered

    return draw


DESIGNS = {
    "hidden bits, 4 annotators": hidden_bits(800, 4, 4, 0.35, 0.5),
    "rare hidden bits, 7 annotators": hidden_bits(1000, 7, 5, 0.15, 0.3),
    "clear samples, 3 annotators": clear_samples(800, 3, 5, -1.3, 1.0),
    "clear samples, 8 annotators": clear_samples(600, 8, 4, -1.3, 0.4),
}


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
