"""Count what metrics need of a real corpus: ``python -m tools.counts``.

The corpus is the distinct sources of :data:`SETS`, all in English.  Written are counts alone, into
``src/tstmeta/models/weights``: how often each token of SmolLM2 occurs (slor), in how many texts
each token of MiniLM occurs (``idf``), and what each word weighs in the graph of all parses
(synwmd).  The raw files of the sets and the models are needed.
"""

import json
import lzma
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import tstmeta as tst
from tstmeta import storage
from tstmeta.metrics import synwmd
from tstmeta.models import encoders, hub, lm, parses, vectors
from tstmeta.models.causal import BACKBONES, DEFAULT
from tstmeta.models.parses import Tree
from tstmeta.models.template import Template

#: Sets whose sources are open to everybody; of two sets with the same sources the first counts.
SETS = (
    *("alva", "lens", "li2018", "mir", "mis", "paradetox", "sottana", "strap", "sulem2018"),
    "wu_arase",
)


def sources() -> list[str]:
    """The distinct sources, in order."""
    tables = (tst.load(name).with_texts() for name in SETS)
    return list(dict.fromkeys(text for table in tables for text in table["source"] if text.strip()))


def word_weights(trees: Sequence[Tree]) -> dict[str, float]:
    """Weights of words that two texts have; of the others, which might tell whose text it is, the
    median stands under :data:`.synwmd.UNKNOWN`."""
    weights = synwmd.word_weights(trees)
    counts = Counter(form for tree in trees for form in {word.form.lower() for word in tree})
    rare = statistics.median(weight for form, weight in weights.items() if counts[form] == 1)
    shared = {form: weight for form, weight in weights.items() if counts[form] > 1}
    return {synwmd.UNKNOWN: rare, **shared}


def texts_by_token(texts: list[str]) -> str:
    """The table that ``bertscore:idf`` reads."""
    encoder = encoders.load(encoders.MINILM)
    counts = vectors.frequencies(encoder.ids(texts))
    tokens = encoder.tokenizer.convert_ids_to_tokens(list(counts.counts))
    table = dict(sorted(zip(tokens, counts.counts.values(), strict=True)))
    facts = {"texts": counts.total, "tokens": table}
    return json.dumps(facts, ensure_ascii=False, indent=0) + "\n"


def main() -> None:
    texts = sources()
    template = Template(hub.tokenizer(BACKBONES[DEFAULT]))
    counts = Counter(chain.from_iterable(map(template.tokens, texts)))
    lines = [f"{token},{count}\n" for token, count in sorted(counts.items())]
    storage.write(lm.SHIPPED / f"{DEFAULT}.csv", "id,count\n" + "".join(lines))
    storage.write(vectors.COUNTS, texts_by_token(texts))
    parser = parses.trees()
    parser.prepare(texts)
    weights = word_weights([parser.find(text) for text in texts])
    table = "".join(f"{form} {weight:.6g}\n" for form, weight in weights.items())
    storage.write(synwmd.WEIGHTS, lzma.compress(table.encode()))
    print(f"{len(weights)} words have a weight")
    print(f"{len(texts)} sources, {sum(counts.values())} tokens, {len(counts)} of them distinct")


if __name__ == "__main__":
    main()
