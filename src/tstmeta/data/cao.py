"""Expertise style transfer, medical text for experts and laymen: Cao et al. (2020).

The ratings that Pauli et al. (2025) use are not public.  Who has been given them puts them into
``data/external/cao/ratings.csv`` with the columns below; ``style`` and ``content`` are means.
"""

from pathlib import Path

from ..schema import FILLED, MEAN_RATER, MissingData, member_of, numeric
from .base import Dataset
from .files import read_csv
from .tables import assemble

NAME = "cao"
FILE = "ratings.csv"
#: Direction -> target style.
DIRECTIONS = {"expert2layman": "layman", "layman2expert": "expert"}
COLUMNS = {
    **{"id": FILLED, "source": FILLED, "output": None, "system": None},
    "direction": member_of(DIRECTIONS),
    **dict.fromkeys(("style", "content"), numeric(1, 5, optional=True)),
}


def ready(root: Path) -> bool:
    """Whether the file of ratings is there."""
    return (root / FILE).is_file()


def load(root: Path) -> Dataset:
    """Load ``ratings.csv``.

    Items: ``item_id`` is the file's ``id``, ``source_id`` is ``direction-1`` … by first appearance
    of the source.  The only rater is ``mean``.
    """
    path = root / FILE
    if not path.is_file():
        raise MissingData(
            f"the ratings of {NAME!r} are private and {path} is not there. Ask the authors of Cao "
            "et al. (2020), see https://srhthu.github.io/expertise-style-transfer, then save what "
            f"you get in the form that the card gives: tstmeta data show {NAME}"
        )
    table = read_csv(path, COLUMNS, unique=["id"])
    place = table.groupby("direction")["source"].transform(lambda texts: texts.factorize()[0] + 1)
    ids = {"item_id": table["id"], "source_id": table["direction"] + "-" + place.astype(str)}
    means = {(name, MEAN_RATER): table[name] for name in ("style", "content")}
    return assemble(NAME, table, **ids, style=table["direction"].map(DIRECTIONS), ratings=means)
