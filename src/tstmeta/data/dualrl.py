"""Yelp outputs of eleven systems and four human rewrites, gathered by Luo et al. (2019), unrated.

1,000 sources, every item with four references.  DualRL read its sources with rare words as
``<unk>``; its items carry those of the other systems.  Table 6 of pang2019 takes its Template and
Delete/Retrieve rows from ``li2018@yelp``, and the untransferred row has one reference.
"""

from pathlib import Path

import pandas as pd

from .base import Dataset
from .raw import read_lines, read_tabs
from .tables import assemble

#: Systems as their folders are called.
_SYSTEMS = """
BackTranslation_Pr CrossAlignment_Shen DeleteOnly_Li DeleteRetrieve_Li DualRL Multidecoder_Fu
RetrieveOnly_Li StyleEmbedding_Fu TemplateBase_Li UnpairedRL_Xu UnsuperMT_Zhang
"""
SYSTEMS = tuple(_SYSTEMS.split())
HUMANS = ("Human0", "Human1", "Human2", "Human3")
#: Direction -> ending of the output files, ending of the reference files, target style.
DIRECTIONS = {"neg2pos": ("0-1", "0", "positive"), "pos2neg": ("1-0", "1", "negative")}
#: All is ASCII but one accented letter, and that is written in this encoding.
_ENCODING = "gb18030"


def load(root: Path) -> Dataset:
    """Items: ``source_id-system``, of the sources ``neg2pos-0`` … ``pos2neg-499``.

    Human0 to Human3 have their own text among their references.
    """
    return assemble("dualrl", pd.concat([_half(root, direction) for direction in DIRECTIONS]))


def _half(root: Path, direction: str) -> pd.DataFrame:
    output_ending, reference_ending, style = DIRECTIONS[direction]
    folders = {name: root / "outputs" / "yelp" / name for name in (*SYSTEMS, *HUMANS)}
    outputs = {
        name: read_tabs(folder / f"test.{output_ending}.tsf", ("source", "output"), _ENCODING)
        for name, folder in folders.items()
    }
    folder, numbers = root / "references" / "yelp", range(len(HUMANS))
    lines = [read_lines(folder / f"reference{n}.{reference_ending}", _ENCODING) for n in numbers]
    groups = [[line.rpartition("\t")[2] for line in row] for row in zip(*lines, strict=True)]
    table = pd.concat(outputs, names=["system", "number"]).reset_index()
    table = table.sort_values("number", kind="stable")
    ids = f"{direction}-" + table["number"].astype(str)
    return table[["system", "output"]].assign(
        item_id=ids + "-" + table["system"],
        source_id=ids,
        style=style,
        direction=direction,
        source=table["number"].map(outputs[HUMANS[0]]["source"]),
        references=[groups[number] for number in table["number"]],
        is_reference=table["system"].isin(HUMANS),
    )
