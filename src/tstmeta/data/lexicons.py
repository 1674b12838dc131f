"""A style lexicon that comes with a data set."""

from pathlib import Path

from .paths import MissingData, raw


def sentiment() -> Path:
    """Words of sentiment with weights, released with Mir et al. (2019): 433 words of reviews."""
    try:
        return raw("mir") / "style_lexicon" / "style_words_and_weights.json"
    except MissingData:  # this goes into pages and score files: no folder of a machine
        reason = "the lexicon of mir is not on this machine; get it with: tstmeta data fetch mir"
        raise MissingData(reason) from None
