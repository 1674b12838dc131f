"""Write the numbers that the project passes on: ``python -m tools.ship [SET ...]``.

``data/ratings/<set>`` gets the items without their texts, what people said of them, and all scores
(:mod:`tstmeta.data.shipped`), with the licence.  It needs the raw files, and the models of Yelp.
"""

import sys

import pandas as pd

from tools.book import CHOICES, MODELS, SHOWN, WITH_CHOICES, YELP, runnable
from tstmeta import data, scoring
from tstmeta.analysis.seeds import SEEDS
from tstmeta.console import note
from tstmeta.data import Card, paths, shipped

#: Data sets whose licence lets their numbers be passed on, and the parts that are scored.
PARTS = {
    "pauli": ("pauli",),
    "lai": ("lai",),
    "li2018": ("li2018@rated",),
    "alva": ("alva@asset", "alva@simplicity_da", "alva@structural"),
    "russe2022": ("russe2022",),
    "sottana": ("sottana",),
    "strap": ("strap",),
    "sulem2018": ("sulem2018",),
    "deplain": ("deplain",),
}
#: What is scored of all of them, and what of single ones besides.
EVERY = (*SHOWN, "lexical", *MODELS, *SEEDS)
MORE = {"li2018": YELP}


def main(names: list[str]) -> None:
    """Write the data sets named, or all."""
    for name in names or PARTS:
        wanted = [*EVERY, *MORE.get(name, ()), *(CHOICES if name in WITH_CHOICES else ())]
        metrics = runnable(wanted)
        store = paths.scores()  # named, so that what was passed on is not passed on again
        tables = [scoring.score(data.load(part), metrics, store=store) for part in PARTS[name]]
        target = shipped.folder(name)
        shipped.write(data.load(name), pd.concat(tables), target)
        (target / "README.md").write_text(licence(name), encoding="utf-8")
        size = sum(file.stat().st_size for file in target.iterdir())
        note(f"{name}: {sum(map(len, tables))} scores, {size / 1e6:.2f} MB")


def licence(name: str) -> str:
    """What the numbers are and under which licence they may go on."""
    card = Card.read(name)
    return (
        f"# {card.title}\n\nRatings and scores without texts. Made from {card.facts['url']} at"
        f" {card.facts['commit']}.\n\nLicence of the data set: {card.facts['licence']}.\n\nCite"
        f" `{card.facts['citation']}` (book/references.bib); see data/cards/{name}.md.\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
