"""Write the numbers that the project passes on: ``python -m tools.ship [SET ...]``.

``data/ratings/<set>`` gets the items without their texts, what people said of them, and all scores
(:mod:`tstmeta.data.shipped`), with the licence.  It needs the raw files, and the models of Yelp.
"""

import shutil
import sys
from pathlib import Path

import pandas as pd

from tools.book import CHOICES, CONTENT, MODELS, SHOWN, YELP, runnable
from tstmeta import data, scoring
from tstmeta.analysis.choice import SEEDS
from tstmeta.console import note
from tstmeta.data import Card, paths, shipped
from tstmeta.schema import Status, TstmetaError, failures

#: What is scored of rewrites that pages show, what on Yelp besides, and what of other rewrites.
EVERY = (*SHOWN, "lexical", *MODELS, *SEEDS)
LESS = (*SHOWN, *CONTENT)
#: Data sets whose licence lets their numbers be passed on: their parts, and what is scored of each.
PARTS = {
    "pauli": {"pauli": (*EVERY, *CHOICES)},
    "lai": {"lai": (*EVERY, *CHOICES)},
    "li2018": {
        "li2018@yelp-rated": (*EVERY, *YELP),
        **dict.fromkeys(("li2018@amazon-rated", "li2018@captions-rated"), LESS),
    },
    "alva": dict.fromkeys(("alva@asset", "alva@simplicity_da", "alva@structural"), EVERY),
    **{name: {name: EVERY} for name in ("russe2022", "sottana", "strap", "sulem2018", "deplain")},
}
#: Our own sets, whose texts are always here: nobody has to wait for scores that do not change.
OURS = {
    "contrast": {"contrast": (*EVERY, *CHOICES)},
    "world": {"world": (*SHOWN, "lexical", *SEEDS, *CHOICES)},
}


def main(names: list[str]) -> None:
    """Write the data sets named, or all."""
    for name in names or PARTS | OURS:
        own, target = scored(name, paths.scores()), shipped.folder(name)
        shutil.rmtree(target, ignore_errors=True)
        shipped.write(data.load(name), own, target)
        (target / "README.md").write_text(licence(name), encoding="utf-8")
        size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
        note(f"{name}: {len(own)} scores, {size / 1e6:.2f} MB")


def scored(name: str, store: Path) -> pd.DataFrame:
    """The scores of a data set that are passed on, of this store or computed, and of no other."""
    parts = (PARTS | OURS)[name].items()
    tables = [scoring.score(data.load(p), runnable([*own]), store=store) for p, own in parts]
    table = pd.concat(tables, ignore_index=True)
    seeds = table["metric"].isin(SEEDS[1:])  # they are compared with the source alone
    table = table[~seeds | (table["basis"] == "source")]
    sound = table.loc[table["status"] != str(Status.ERROR), "metric"]
    if failed := sorted({*table["metric"]} - {*sound}):
        raise TstmetaError(f"{name}: no score of {', '.join(failed)}: {failures(table)[0]}")
    return table


def licence(name: str) -> str:
    """What the numbers are and under which licence they may go on."""
    card = Card.read(name)
    of = f" Made from {card.facts['url']} at {card.facts['commit']}." if card.facts["url"] else ""
    return (
        f"# {card.title}\n\nRatings and scores without texts.{of}\n\nLicence of the data"
        f" set: {card.facts['licence']}.\n\nCite"
        f" `{card.facts['citation']}` (book/references.bib); see data/cards/{name}.md.\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
