"""The page of the embedded model: its facts are those of the files, and it says what is missing."""

import json
import re
import shutil

import pytest

from tstmeta.models.causal import EMBEDDED
from tstmeta.report import backbone


@pytest.fixture
def folder(tmp_path):
    """A copy of the shipped folder."""
    return shutil.copytree(EMBEDDED, tmp_path / "backbone")


def changed(folder, **changes):
    path = folder / "training.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return backbone.page(folder)


def test_the_facts_are_those_of_the_shipped_files():
    report, config = (
        json.loads((EMBEDDED / name).read_text()) for name in ("training.json", "config.json")
    )
    found = dict(backbone.facts(report, config, EMBEDDED))
    assert found["parameters"] == f"{report['parameters']:,}"
    assert found["layers"].startswith(f"{config['num_hidden_layers']},")
    assert found["training steps"] == f"{report['steps']:,}"
    size = (EMBEDDED / "model.safetensors").stat().st_size
    assert found["file"].startswith(f"{size / 1e6:.1f} MB")
    assert "float16" in found["file"]
    assert set(report["versions"]) == {
        name.removeprefix("trained with ") for name in found if name.startswith("trained with")
    }


def test_the_page_shows_curve_losses_conversations_and_the_warning():
    text = backbone.page()
    report = json.loads((EMBEDDED / "training.json").read_text())
    assert "A demonstration, not a reproduction" in text
    assert f"The training loss over {len(report['loss_curve'])} steps" in text
    assert text.count("data:image/png;base64,") == 1
    for side in report["losses_by_task"].values():
        for loss in side.values():
            assert f">{loss:.3f}<" in text
    made = backbone.conversations()
    assert len(made) == backbone.EXAMPLES
    assert made["asked"].str.len().min() > 0
    assert "tstmeta train backbone" in text
    assert not re.search(r"(?m)^#.*\n+#", text), "a heading without text"


def test_conversations_are_always_the_same():
    assert backbone.conversations(4).equals(backbone.conversations(4))


def test_shares_are_shown_where_they_were_taken_and_missed_where_not(folder):
    shares = {"contrast": {"likelihood": {"light > light-error": 0.75, "a > b": 0.25}}}
    (row,) = backbone.shares({"shares": shares}).to_dict("records")
    assert row == {"data": "contrast", "metric": "likelihood"} | shares["contrast"]["likelihood"]
    text = changed(folder, shares=shares)
    assert ">0.75<" in text
    assert "light &gt; light-error" in text
    assert "were not tried out" in changed(folder, shares={})


def test_the_parts_of_the_course_are_told_from_the_options(folder):
    options = json.loads((folder / "training.json").read_text())["options"]
    parts = {"drill": 0.25, "systems": 0.75}
    text = changed(folder, steps=2000, options=options | parts)
    assert "for 500 steps the model only repeats" in text
    assert "from step 1,500 on" in text
    whole = {name: one for name, one in options.items() if name not in parts}
    assert "The tasks change" not in changed(folder, options=whole)


def test_a_share_that_was_not_taken_is_a_dash(folder):
    text = changed(folder, shares={"world": {"likelihood": {"a": 0.5}, "bleu": {"b": 0.25}}})
    assert text.count(">–<") == 2


def test_without_the_weights_the_page_says_what_to_do(tmp_path):
    text = backbone.page(tmp_path)
    assert text.startswith("# The embedded model\n")
    assert "Train them: `tstmeta train backbone`" in text
