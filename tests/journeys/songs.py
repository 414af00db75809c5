"""Songs with reviews, tags, dates, categories and missing values, in the files that people have.

The tags of a song are visible in its review: each tag contributes two of its six words.
"""

import numpy as np
import pandas as pd

from tests.commands import run_command

WORDS = {
    "dance": "beat club floor bass synth fast",
    "folk": "acoustic village story fiddle banjo hills",
    "rock": "guitar drums loud riff distortion band",
    "sad": "tears slow lonely rain grey minor",
}
TAGS = list(WORDS)
COMMON = "the a song album track with and of on this was very quite record singer voice"


def make_songs(n=160, seed=0):
    """Return a table with one column of each kind, and the true labels."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, len(TAGS))) < 0.35
    Y[np.arange(len(TAGS)), np.arange(len(TAGS))] = True
    reviews = []
    for row in Y:
        words = [*rng.choice(COMMON.split(), 8)]
        for tag in np.array(TAGS)[row]:
            words += [*rng.choice(WORDS[tag].split(), 2, replace=False)]
        reviews.append(" ".join(rng.permutation(words)))
    frame = pd.DataFrame(
        {
            "song_id": [f"S{i:03d}" for i in range(n)],
            "review": reviews,
            "tempo": np.round(100 + 60 * Y[:, 0] + rng.normal(0, 10, n), 1),
            "format": rng.choice(["vinyl", "cd", "web"], n),
            "released": pd.Timestamp(2010, 1, 1) + pd.to_timedelta(rng.integers(0, 4000, n), unit="D"),
        }
    )
    frame["released"] = frame["released"].dt.strftime("%Y-%m-%d")
    frame.loc[rng.random(n) < 0.1, "tempo"] = np.nan
    frame.loc[rng.random(n) < 0.1, "format"] = None
    return frame, pd.DataFrame(Y, columns=TAGS)


def tag_lists(Y, sep="; "):
    """Return the tags of each song as text."""
    return [sep.join(np.array(TAGS)[row]) for row in Y.to_numpy()]


def spmld(folder, *args):
    """Run a command; return exit status, output and messages."""
    return run_command(folder, *args, SPMLD_CACHE=str(folder / "cache"))


def succeed(folder, *args):
    """Run a command that must succeed; return its output and messages."""
    status, out, err = spmld(folder, *args)
    assert status == 0, err
    assert "Traceback" not in err
    return out, err
