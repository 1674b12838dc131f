"""Simplification rated by Sulem et al. (2018): 70 sentences in 28 forms, three raters each.

The released outputs are in lower case, cut into tokens and escaped, and no source is with them.
``alva@structural`` has 25 of the systems, sources and outputs as they read, but means of ratings.
"""

from pathlib import Path

import pandas as pd

from .base import Dataset, without_systems
from .raw import read_csv
from .tables import assemble

RATINGS = "Human_evaluation_benchmark_acl2018.ods"
TEXTS = Path("alva", "metaeval-simplification", "data", "structural_simplicity.csv")
SENTENCES = 70
SOURCE, REFERENCE = "Identity", "Simple-Wikipedia"
#: Systems in the order of the sheet, with the names of the released outputs.
_SYSTEMS = """
Identity Simple-Wikipedia NTS-h1_default_model NTS-h1_w2v_model NTS-h4_default_model
NTS-h4_w2v_model DSS DSS^m Hybrid SENTS-h1_default_model SENTS-h1^m_default_model
SENTS-h1_w2v_model SENTS-h1^m_w2v_model SENTS-h4_default_model SENTS-h4^m_default_model
SENTS-h4_w2v_model SENTS-h4^m_w2v_model Moses Moses_LM SEMoses^m SEMoses_LM^m SEMoses SEMoses_LM
SETrain1-Moses SETrain1-Moses_LM SETrain2-Moses SETrain2-Moses_LM SBMT-SARI
"""
SYSTEMS = tuple(_SYSTEMS.split())
#: Dimension of each question, in the order of the columns of each rater.
QUESTIONS = ("fluency", "content", "style", "structure")


def load(root: Path) -> Dataset:
    """Items: ``source_id-system``, of the sources 0 … as in ``alva``.

    The texts are those of ``alva``, where its files lie beside these; one that is not here is None.
    """
    sheet = pd.read_excel(root / RATINGS, engine="calamine", header=None, skiprows=2)
    keys = [(number, system) for system in SYSTEMS for number in range(SENTENCES)]
    texts = _texts(root.parent / TEXTS)
    ratings = {
        (dimension, f"r{place // len(QUESTIONS) + 1}"): sheet[place + 2].astype(float)
        for place, dimension in enumerate(QUESTIONS * 3)
    }
    return assemble(
        "sulem2018",
        item_id=[f"{number}-{system}" for number, system in keys],
        source_id=[str(number) for number, _ in keys],
        system=[system for _, system in keys],
        style="simplified",
        source=[texts.get((number, SOURCE)) for number, _ in keys],
        output=[texts.get(key) for key in keys],
        is_reference=[system == REFERENCE for _, system in keys],
        ratings=ratings,
    )


def _texts(path: Path) -> dict[tuple[int, str], str]:
    """Texts by number and system, those of the sources among them; none without the file."""
    if not path.is_file():
        return {}
    table = read_csv(path)
    lines = table["sent_id"].astype(int) - 1
    sources = zip(((line, SOURCE) for line in lines), table["orig_sent"], strict=True)
    outputs = zip(zip(lines, table["sys_name"], strict=True), table["simp_sent"], strict=True)
    return dict(sources) | dict(outputs)


SUBSETS = {"systems": without_systems(SOURCE, REFERENCE)}
