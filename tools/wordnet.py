"""Make the table of synonyms that METEOR reads, from the files of Princeton WordNet 3.0.

    python -m tools.wordnet /usr/share/wordnet

The folder is that of Debian's package ``wordnet-base``.  The table keeps what METEOR asks for: the
lemmas of each synset and the irregular forms, under WordNet's licence, which stands at its head.
"""

import lzma
import re
import sys
from pathlib import Path

TABLE = Path(__file__).parents[1] / "src/tstmeta/metrics/wordnet.txt.xz"
#: NLTK's letters for the parts of speech.
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def licence(folder: Path) -> list[str]:
    """The notice at the head of each of WordNet's files; its lines begin with a number."""
    lines = (folder / "data.noun").read_text(encoding="utf-8").splitlines()
    return ["# " + re.sub(r"^ +\d+ ?", "", line).rstrip() for line in lines if line[:1] == " "]


def synsets(folder: Path, part: str) -> list[str]:
    """The lemmas of each synset: field 4 counts them in base 16, and a number follows each."""
    lines = (folder / f"data.{part}").read_text(encoding="utf-8").splitlines()
    fields = [line.split(" ") for line in lines if line[:1] != " "]
    lemmas = [line[4 : 4 + 2 * int(line[3], 16) : 2] for line in fields]
    # an adjective may carry its place in the sentence, as in "galore(ip)"
    return sorted(" ".join(re.sub(r"\(\w+\)$", "", lemma) for lemma in line) for line in lemmas)


def main(place: str) -> None:
    folder, table = Path(place), []
    for part, letter in PARTS.items():
        forms = (folder / f"{part}.exc").read_text(encoding="utf-8").splitlines()
        table += [f"{letter} {lemmas}" for lemmas in synsets(folder, part)]
        table += [f"{letter}- {line.strip()}" for line in sorted(forms)]
    text = "\n".join([*licence(folder), *table, ""])
    TABLE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(*sys.argv[1:])
