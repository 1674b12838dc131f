"""Yelp sentiment transfer: the form on made-up files, the numbers on the real ones."""

import numpy as np
import pytest

from tests.data.raw import write
from tstmeta.data import mir


class Trap:
    """An object whose unpickling runs code, as a hostile file's could."""

    def __reduce__(self):
        return eval, ("1 / 0",)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Two sources a direction; the ratings of system s are 1 + s / 10 and more for style."""
    monkeypatch.setattr(mir, "HALF", 2)
    for half in (0, 1):
        write(tmp_path / "data" / f"sentiment.test.{half}", [f"source {half} {n}" for n in (0, 1)])
    human = tmp_path / "evaluations" / "human"
    for name in ("content_preservation", "style_transfer_intensity", "naturalness"):
        (human / name).mkdir(parents=True)
    relative = np.array([Trap(), "B", None, "A"], dtype=object)
    for number, system in enumerate(mir.SYSTEMS):
        folder = system.replace("_", "/", 1)
        for half in (0, 1):
            path = tmp_path / "transfer_model_outputs" / folder / f"sentiment.test.{half}.tsf"
            write(path, [f"{system} {half} {n}" for n in (0, 1)])
        means = np.array([1.0, 2.0, 3.0, 4.0]) + number / 20
        np.save(human / "content_preservation" / f"{system}.npy", means)
        np.save(human / "style_transfer_intensity" / f"{system}.npy", 6 - means)
        if system not in mir.NOT_NATURAL:
            path = human / "naturalness" / f"{system}.npz"
            np.savez(path, absolute=np.full(4, 2.5), relative=relative)
    return tmp_path


def test_items_go_source_by_source_with_the_negative_sources_first(root):
    items = mir.load(root).items
    assert len(items) == 4 * 12
    assert items["item_id"].tolist()[:2] == ["neg2pos-0-ARAE_lambda_1", "neg2pos-0-ARAE_lambda_5"]
    columns = ["source_id", "system", "style", "direction", "source", "output"]
    assert items.set_index("item_id").loc["pos2neg-2-DAR_gamma_15", columns].tolist() == [
        *("pos2neg-2", "DAR_gamma_15", "negative", "pos2neg", "source 1 0", "DAR_gamma_15 1 0")
    ]
    assert items["references"].map(len).eq(0).all()


def test_only_means_were_released(root):
    loaded = mir.load(root)
    assert set(loaded.ratings["rater"]) == {"mean"}
    means = loaded.means.loc[["neg2pos-1-ARAE_lambda_5", "pos2neg-3-ARAE_lambda_1"]]
    expected = [[2.05, 3.95, 2.5], [4.0, 2.0, 2.5]]
    assert means[["content", "style", "fluency"]].to_numpy().tolist() == expected


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_nothing_is_unpickled(root, kind):
    folder = {"npy": "content_preservation", "npz": "naturalness"}[kind]
    path = root / "evaluations" / "human" / folder / f"CAAE_rho_1.{kind}"
    hostile = np.array([Trap(), 1, 2, 3], dtype=object)
    np.save(path, hostile) if kind == "npy" else np.savez(path, absolute=hostile)
    with pytest.raises(ValueError, match="allow_pickle"):
        mir.load(root)
