"""Yelp sentiment transfer rated by crowd workers: Mir et al. (2019), 2,928 rewrites.

Only the mean of three workers was released, from 1 to 5.  Style is the strength of the *change*
between the two texts.  Fluency is what the paper calls naturalness; it was rated for nine of the
twelve systems.  There are no references.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from ..schema import MEAN_RATER
from .base import Dataset
from .raw import read_lines
from .tables import assemble

#: Sources a direction: ``sentiment.test.0`` is negative, ``sentiment.test.1`` positive.
HALF = 122
#: Systems as the rating files name them; the outputs of ``ARAE_lambda_1`` are in ``ARAE/lambda_1``.
_SYSTEMS = """
ARAE_lambda_1 ARAE_lambda_5 ARAE_lambda_10 CAAE_rho_0_01 CAAE_rho_0_1 CAAE_rho_0_5 CAAE_rho_1
CAAE_rho_5 DAR_gamma_0_1 DAR_gamma_1 DAR_gamma_15 DAR_gamma_500
"""
SYSTEMS = tuple(_SYSTEMS.split())
#: Systems without naturalness ratings.
NOT_NATURAL = ("DAR_gamma_0_1", "DAR_gamma_1", "DAR_gamma_500")
#: Direction -> target style.
STYLES = {"neg2pos": "positive", "pos2neg": "negative"}
#: Dimension -> folder and ending of its rating files.
RATINGS = {
    "content": ("content_preservation", "npy"),
    "style": ("style_transfer_intensity", "npy"),
    "fluency": ("naturalness", "npz"),
}


def load(root: Path) -> Dataset:
    """Items: ``source_id-system``, of the sources ``neg2pos-0`` … ``pos2neg-243``."""
    sources = _texts(root / "data", "")
    folder = root / "transfer_model_outputs"
    outputs = [_texts(folder / name.replace("_", "/", 1), ".tsf") for name in SYSTEMS]
    direction = [way for way in STYLES for _ in range(HALF)]
    names = [f"{way}-{number}" for number, way in enumerate(direction)]
    rows = pd.DataFrame({"source_id": names, "source": sources, "direction": direction})
    rows = rows.merge(pd.Series(SYSTEMS, name="system"), how="cross")
    means = {
        (name, MEAN_RATER): np.column_stack([_means(root, name, system) for system in SYSTEMS])
        for name in RATINGS
    }
    return assemble(
        "mir",
        rows,
        item_id=rows["source_id"] + "-" + rows["system"],
        style=rows["direction"].map(STYLES),
        output=[text for texts in zip(*outputs, strict=True) for text in texts],
        ratings={rated: values.ravel() for rated, values in means.items()},
    )


def _texts(folder: Path, suffix: str) -> list[str]:
    """Lines of both directions, negative sources first."""
    files = [folder / f"sentiment.test.{half}{suffix}" for half in (0, 1)]
    return [line for file in files for line in read_lines(file)]


def _means(root: Path, dimension: str, system: str) -> np.ndarray:
    """Mean ratings of one system, shape [244], between 1 and 5; NaN where it was not rated."""
    if dimension == "fluency" and system in NOT_NATURAL:
        return np.full(2 * HALF, np.nan)
    folder, ending = RATINGS[dimension]
    path = root / "evaluations" / "human" / folder / f"{system}.{ending}"
    values = np.load(path, allow_pickle=False)  # an .npz also holds objects of Python
    return values["absolute"] if ending == "npz" else values
