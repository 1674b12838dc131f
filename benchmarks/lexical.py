"""How fast our lexical metrics are beside the libraries, called in the obvious way.

Ours are called as scoring calls them, guards and all; the peers as their own documentation shows,
from a loop over pairs.  Each run starts with empty memories (tokens, stems, synonyms), so that what
repeats counts only as far as the pairs themselves repeat it.  Time is processor time of this
process, which other programs on the machine disturb little.  The values are compared as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import measure
import texts
from nltk.translate import bleu_score, meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re, tokenizer_ter
from texts import Pair

from tstmeta.metrics import Request, registry, wordnet
from tstmeta.metrics.lexical import Meteor

Peer = Callable[[str, str], float]
LIBRARIES = ("tstmeta", "nltk", "sacrebleu", "rouge-score", "rapidfuzz", "numpy")
SHARED = "shared-by-9"
#: Ours against the peer: the least ratio that we accept, and the largest difference in values.
LEAST_RATIO, LARGEST_DIFFERENCE = 0.95, 1e-12


class Duel(NamedTuple):
    """A metric of ours and what makes its peer."""

    metric: str
    peer: str
    make: Callable[[], Peer]


# ------------------------------------------------------------------------------------- peers


def nltk_bleu() -> Peer:
    smoothing = bleu_score.SmoothingFunction().method1
    # Strings are sequences of characters for NLTK; the output stands in the reference's place.
    return lambda source, output: bleu_score.sentence_bleu(
        [output], source, smoothing_function=smoothing
    )


def nltk_meteor() -> Peer:
    tokens = Meteor().tokens
    # with our table of synonyms, for NLTK's own needs a download
    return lambda source, output: meteor_score.single_meteor_score(
        tokens(source), tokens(output), wordnet=wordnet
    )


def sacrebleu_bleu() -> Peer:
    bleu = BLEU(effective_order=True)
    return lambda source, output: bleu.sentence_score(output, [source]).score


def sacrebleu_chrf() -> Peer:
    chrf = CHRF()
    return lambda source, output: chrf.sentence_score(output, [source]).score


def sacrebleu_ter() -> Peer:
    ter = TER()
    return lambda source, output: ter.sentence_score(output, [source]).score


def rouge_score_rouge() -> Peer:
    rouge = RougeScorer(["rougeL"])
    return lambda source, output: rouge.score(source, output)["rougeL"].fmeasure


def plain_pinc() -> Peer:
    """PINC as its equation reads."""
    tokenize = tokenizer_13a.Tokenizer13a()

    def pinc(source: str, output: str) -> float:
        compared, words = tokenize(source).split(), tokenize(output).split()
        total, orders = 0.0, 0
        for n in range(1, 5):
            grams = {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}
            known = {tuple(compared[i : i + n]) for i in range(len(compared) - n + 1)}
            if grams:
                total += 100 * (1 - len(grams & known) / len(grams))
                orders += 1
        return total / orders

    return pinc


def plain_edit_similarity() -> Peer:
    """Levenshtein's recursion, a row of the table at a time."""
    tokenize = tokenizer_13a.Tokenizer13a()

    def similarity(source: str, output: str) -> float:
        compared, words = tokenize(source).split(), tokenize(output).split()
        row = list(range(len(words) + 1))
        for i, old in enumerate(compared, 1):
            before, row = row, [i]
            for j, new in enumerate(words, 1):
                row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (old != new)))
        return 1 - row[-1] / max(len(compared), len(words))

    return similarity


DUELS = (
    Duel("bleu:pauli2025", "nltk sentence_bleu", nltk_bleu),
    Duel("meteor", "nltk single_meteor_score", nltk_meteor),
    Duel("bleu", "sacrebleu BLEU", sacrebleu_bleu),
    Duel("chrf", "sacrebleu CHRF", sacrebleu_chrf),
    Duel("rougeL", "rouge-score", rouge_score_rouge),
    Duel("ter", "sacrebleu TER", sacrebleu_ter),
    Duel("pinc", "plain Python", plain_pinc),
    Duel("edit-similarity", "plain Python", plain_edit_similarity),
)
#: These gain from texts that repeat, and so must win where they do.
FASTER = ("bleu:pauli2025", "meteor")


# --------------------------------------------------------------------------------- measuring


def forget() -> None:
    """Empty every memory that outlives a metric, ours and the libraries'."""
    wordnet.synsets.cache_clear()
    for tokenizer in (
        tokenizer_13a.Tokenizer13a,
        tokenizer_re.TokenizerRegexp,
        tokenizer_ter.TercomTokenizer,
    ):
        tokenizer.__call__.cache_clear()


def ours(duel: Duel, pairs: Sequence[Pair]) -> Callable[[], list[float]]:
    forget()
    metric = registry.get(duel.metric)
    requests = [Request(pair.output, (pair.source,), pair.source) for pair in pairs]
    return lambda: [score.value for score in metric.score(requests)]


def theirs(duel: Duel, pairs: Sequence[Pair]) -> Callable[[], list[float]]:
    forget()
    peer = duel.make()
    return lambda: [peer(source, output) for source, output in pairs]


def compare(duel: Duel, name: str, pairs: Sequence[Pair], calls: int) -> dict[str, Any]:
    """One row: both speeds, their ratio (above 1: ours is faster) and the largest difference."""
    # This first run also loads what is loaded once, such as WordNet's table.
    values = zip(ours(duel, pairs)(), theirs(duel, pairs)(), strict=True)
    difference = max(abs(mine - peer) for mine, peer in values)
    sides = {"ours": lambda: ours(duel, pairs), "peer": lambda: theirs(duel, pairs)}
    times = measure.take_turns(sides, calls)
    return {
        "metric": duel.metric,
        "peer": duel.peer,
        "texts": name,
        "pairs": len(pairs),
        "ours_per_second": round(len(pairs) / measure.median(times["ours"])),
        "peer_per_second": round(len(pairs) / measure.median(times["peer"])),
        **measure.summary(measure.ratios(times["peer"], times["ours"])),
        "difference": difference,
        "signature": str(registry.get(duel.metric).signature("source")),
    }


def checks(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The goals; their names are the same on every machine."""
    results = []
    for metric, *_ in DUELS:
        mine = [row for row in rows if row["metric"] == metric]
        slowest = min((row["ratio"] for row in mine), default=None)
        furthest = max((row["difference"] for row in mine), default=None)
        name = f"{metric}: difference from the peer"
        results.append(measure.check(name, furthest, "<=", LARGEST_DIFFERENCE))
        name = f"{metric}: speed against the peer, lowest of all texts"
        results.append(measure.check(name, slowest, ">=", LEAST_RATIO))
        if metric in FASTER:
            shared = next((row["ratio"] for row in mine if row["texts"] == SHARED), None)
            name = f"{metric}: speed against the peer, a source shared by 9 rewrites"
            results.append(measure.check(name, shared, ">", 1))
    return results


def main() -> None:
    given = measure.arguments(__doc__, size=1800, quick=180, size_help="pairs of each kind")
    load = measure.load_average()
    kinds = {
        "contrast": texts.contrast_pairs(given.size),
        "random": texts.random_pairs(given.size, rewrites=1, seed=measure.SEED),
        SHARED: texts.random_pairs(given.size, rewrites=9, seed=measure.SEED + 1),
    }
    rows = [
        compare(duel, name, pairs, calls=2 if given.quick else 3)
        for duel in DUELS
        for name, pairs in kinds.items()
    ]
    notes = ["ratio above 1: ours is faster; processor time; memories emptied before each run"]
    measure.finish("lexical", given, LIBRARIES, load, rows, checks(rows), notes)


if __name__ == "__main__":
    main()
