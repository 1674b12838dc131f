"""What has to be said wherever scores of the embedded model are shown.

The embedded model is small and trained on generated text.  Its scores show how the likelihood
method works, never how well, and must not be taken for those of the models that a paper used.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tqdm import TqdmWarning

from ..likelihood.zeroshot import DemonstrationWarning
from ..metrics import fluency, known, resolve
from ..models.causal import BACKBONES
from . import html

#: An empty output would be shown as the name of its type.
_NOTHING = html.Html("<span hidden></span>")
#: The metrics that run on a language model.
METRICS = ("likelihood", "likelihood-style")


def shown(metrics: Sequence[str]) -> list[str]:
    """The likelihood metrics among these names and families that run on the embedded model."""
    return [
        name
        for name in resolve(list(metrics))
        if name.partition(":")[0] in METRICS and _profile(name) == "embedded"
    ]


def warning(metrics: Sequence[str], notebook: str = "", parameter: str = "metrics") -> html.Html:
    """A box that says what the embedded model is; nothing where none of the metrics runs on it.

    In this process the warnings of demonstration models are not raised any more: what a page says
    to its readers need not be said again to who builds it.  Nor is tqdm's wish for another
    kind of bar.

    Args:
        metrics: names or families that the page shows.
        notebook: its name, for the command that runs it on another model.
        parameter: of the notebook, which takes ``metrics`` or ``models``.
    """
    for category in (DemonstrationWarning, fluency.DemonstrationWarning, TqdmWarning):
        warnings.simplefilter("ignore", category)
    names = shown(metrics)
    if not names:
        return _NOTHING
    return html.Html(
        "<div class='admonition warning'>"
        "<p class='admonition-title'>A demonstration, not a reproduction</p>"
        f"<p>{_what(names)} {_others()}{_how(names[0], notebook, parameter)}</p></div>"
    )


def _what(names: Sequence[str]) -> str:
    model = BACKBONES["embedded"]
    rows = ", ".join(f"<code>{escape(name)}</code>" for name in dict.fromkeys(names))
    millions = parameters(Path(model.where)) / 1e6 or model.parameters
    return (
        f"On this page {rows} {'run' if len(names) > 1 else 'runs'} on the model"
        f" <code>{model.name}</code>, which comes with the package: {millions:.1f} million"
        f" parameters, {escape(model.about)}. The numbers show how the method works. They say"
        " nothing about how well it works."
    )


def _others() -> str:
    """The models of the paper, with their sizes."""
    listed = " and ".join(
        f"<code>{escape(one.where)}</code> ({one.parameters:,.0f} million parameters)"
        for one in BACKBONES.values()
        if one.gated
    )
    return (
        f"The paper ran it on {listed}. Its numbers, where this book shows them, are marked as"
        " published and are never mixed with ours."
    )


def _how(metric: str, notebook: str, parameter: str) -> str:
    if not notebook:
        return ""
    model = next(one.name for one in BACKBONES.values() if one.gated)
    words = f"{metric.partition(':')[0]}:{model} --profile real"
    given = model if parameter == "models" else words
    command = f"tstmeta run {notebook} -p {parameter} {given}"
    return f" To run this page on one of them: <code>{escape(command)}</code>"


def parameters(folder: Path) -> int:
    """Numbers that the safetensors files of a folder hold, read off their headers; 0 = no file.

    A header is a length of 8 bytes, little-endian, and that many bytes of JSON: tensor -> shape.
    """
    total = 0
    for file in sorted(folder.glob("*.safetensors")):
        with open(file, "rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(size))
        for name, tensor in header.items():
            if name != "__metadata__":
                count = 1
                for length in tensor["shape"]:
                    count *= length
                total += count
    return total


def _profile(name: str) -> str:
    metric = known(name)
    return metric.profile if metric else ""
