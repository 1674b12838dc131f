"""The box about the embedded model: where it stands, what it says, what it silences."""

import json
import struct
import warnings

import pytest

from tstmeta.likelihood.zeroshot import DemonstrationWarning
from tstmeta.models.causal import BACKBONES
from tstmeta.report import demonstration


@pytest.mark.parametrize(
    ("metrics", "names"),
    [
        (["bleu", "likelihood"], ["likelihood"]),
        (["likelihood-style", "likelihood:released"], ["likelihood-style", "likelihood:released"]),
        (["likelihood:emphasis"], ["likelihood:emphasis"]),
        (["likelihood:3b"], []),
        (["likelihood:8b+released", "rouge1"], []),
        (["lexical", "sentinel", "human-style"], []),
        ([], []),
    ],
)
def test_only_metrics_on_the_embedded_model_are_a_demonstration(metrics, names):
    assert demonstration.shown(metrics) == names
    assert ("admonition" in demonstration.warning(metrics).text) == bool(names)


def test_the_box_names_the_model_the_paper_s_models_and_the_command():
    text = demonstration.warning(["bleu", "likelihood"], "02_content_preservation").text
    assert "admonition warning" in text
    for one in (BACKBONES["3b"], BACKBONES["8b"]):
        assert one.where in text
        assert f"{one.parameters:,.0f} million" in text
    assert BACKBONES["embedded"].about in text
    assert (
        "tstmeta run 02_content_preservation -p metrics likelihood:3b --profile real</code>" in text
    )
    other = demonstration.warning(["likelihood"], "05_ablation", "models").text
    assert "tstmeta run 05_ablation -p models 3b</code>" in other


def test_what_the_page_says_is_not_said_on_stderr_again():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        demonstration.warning(["likelihood"])
        warnings.warn("said", DemonstrationWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="another"):
            warnings.warn("another", UserWarning, stacklevel=1)


def test_parameters_are_counted_from_the_headers_of_the_weights(tmp_path):
    for number, shapes in enumerate(([[3, 4], [5]], [[2, 2, 2]])):
        header = {
            f"t{i}": {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}
            for i, shape in enumerate(shapes)
        }
        text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
        file = tmp_path / f"part{number}.safetensors"
        file.write_bytes(struct.pack("<Q", len(text)) + text)
    assert demonstration.parameters(tmp_path) == 3 * 4 + 5 + 2 * 2 * 2
    assert demonstration.parameters(tmp_path / "nowhere") == 0


def test_a_name_that_could_be_markup_is_escaped():
    assert "<script>" not in demonstration._what(["<script>"])
