"""What the analyses print of small data sets and of the book's evidence, held against ``printed/``.

``python -m tests.analysis.test_printed`` writes these files anew: read what has changed in them.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

import tstmeta as tst
from tests.analysis.many import rated, scored
from tests.analysis.test_evaluation import analyse
from tests.analysis.tiny import constructed
from tests.analysis.tiny import rated as tiny
from tstmeta import scoring
from tstmeta.analysis import advice, people, render, report, verdicts
from tstmeta.analysis.frame import pairs_both_ways
from tstmeta.console import TableFormat
from tstmeta.data import Card, Dataset
from tstmeta.schema import TstmetaError

PRINTED = Path(__file__).with_name("printed")
DATA, QUICK = rated(), {"draws": 150, "seed": 5}
#: Statistic, level and unit.
SETTINGS = [
    *(("pearson", "pooled", "source"), ("accuracy", "same-source", "source")),
    *(("kendall", "system", "both"), ("spearman", "source", "system")),
    *(("spearman", "within-task", "source"), ("pearson", "within-system", "source")),
]


def scores() -> pd.DataFrame:
    """Metrics on both sides, with gaps and failures, sentinels and a metric of whole outputs."""
    noise = {"chrf": 0.4, "ter": 0.5, "bleu": 1.0, "wmd": 4.0, "random": 2.0, "copy-rate": 3.0}
    table, references = scored(DATA, **noise), scored(DATA, ter=0.3, **{"released:wmd": 0.9})
    table["value"] = table["value"].mask(table["metric"].eq("bleu") & (table.index % 7 == 0))
    references = references.assign(basis="reference", signature="r|" + references["signature"])
    corpus = scoring.score(DATA, ["corpus-bleu"], ["source"], store=None, progress=False)
    return pd.concat([table, references, corpus, scoring.human_style(DATA)], ignore_index=True)


def uneven(name: str) -> Dataset:
    """A system twice or unknown, ratings that are not there, some references, a scale to 100."""
    number = DATA.ratings["item_id"].str[1:].astype(int)
    absent = (DATA.ratings["rater"].eq("r3") & (number % 4 == 0)) | (number % 11 == 0)
    ratings = DATA.ratings[~absent].assign(dataset=name, value=DATA.ratings["value"] * 20)
    fluent = ratings.query("rater == 'r1' and dimension == 'style'")
    fluent = fluent.assign(dimension="fluency", value=100 - fluent["value"] + number % 7)
    place = DATA.items.index
    systems = DATA.items["system"].mask(place % 20 == 3, "C").mask(place % 28 == 0, "")
    references = [["we saw boats"] * (row % 2) for row in place]
    items = DATA.items.assign(dataset=name, system=systems, references=references)
    card = Card(name, name, {"scale": {"content": [0, 100], "style": [20, 30]}})
    ratings = pd.concat([ratings, fluent], ignore_index=True)
    return Dataset.of(name, items, card, ratings=ratings, labels=DATA.labels.assign(dataset=name))


SCORES, UNEVEN, SLOTS = scores(), uneven("uneven"), uneven("lai")
HOLES = SCORES.assign(dataset="uneven")


def rounded(text: str) -> str:
    """Numbers of a text with five digits; errors of rounding are 0."""
    pattern = r"-?\d+\.\d+(e[+-]?\d+)?"
    return re.sub(pattern, lambda match: f"{round(float(match[0]), 9) + 0:.5g}", text)


def tables(*frames: pd.DataFrame) -> str:
    return "\n".join(frame.to_csv(lineterminator="\n") for frame in frames)


def evaluations(statistic: str, level: str, unit: str) -> Iterator[str]:
    options = {"statistic": statistic, "level": level, "unit": unit, **QUICK}
    results = [analyse(UNEVEN, HOLES, dimension=d, **options) for d in ("content", "style")]
    results += [analyse(DATA, SCORES, **options)]
    for gaps in (False, True):
        for kind in TableFormat if level == "same-source" else [TableFormat.table]:
            yield render.rendered(results[: 3 if kind is TableFormat.table else 2], kind, gaps)
    yield tables(*(result.levels for result in results))


def reports() -> Iterator[str]:
    pytest.importorskip("matplotlib")
    options = {"level": "same-source", "statistic": "accuracy", "draws": 60}
    means, few = rated(raters=False), SCORES[SCORES["metric"].isin(["chrf", "random"])]
    for data, table in ((DATA, SCORES), (UNEVEN, HOLES), (means, SCORES), (means, few)):
        result = analyse(data, table, **options)
        section = report._section(result, "e1")
        assert section.pop("figure")
        yield "\n".join(f"{key}: {value}" for key, value in section.items())
        yield from report.methods([result])[1:]
        yield str(report._facts(data))


def comparisons(statistic: str, level: str, unit: str) -> Iterator[str]:
    pairs = pd.concat([tst.pairs(DATA, SCORES), tst.pairs(UNEVEN, HOLES)], ignore_index=True)
    chosen = pairs[pairs["basis"] == "source"]
    yield tables(
        tst.correlate(pairs, statistic, level),
        tst.bootstrap(pairs, statistic, level, unit, **QUICK).drop(columns="draws"),
        tst.rank_sets(chosen, statistic, level, unit, **QUICK),
        tst.compare(chosen, "chrf", "bleu", statistic, level, unit, **QUICK),
        tst.compare(chosen, "wmd", "random", statistic, level, unit, **QUICK),
    )


def paired() -> Iterator[str]:
    for frame in (tst.pairs(UNEVEN, HOLES), pairs_both_ways(UNEVEN, HOLES, "style")):
        yield tables(frame[::37], frame.dtypes.astype(str))
        yield tables(tst.pairs(UNEVEN, HOLES[:0]))
    single = DATA.where(DATA.items["system"] == "B", "single")
    bare = rated(systems=False, labels=False)
    mistakes = [(DATA, {"dimension": "mood"}), (DATA, {"dimension": "fluency"})]
    mistakes += [(DATA, {"unit": "words"}), (DATA, {"draws": 0}), (bare, {"unit": "both"})]
    mistakes += [(single, {"level": "system"}), (bare, {"level": "within-task"})]
    for data, options in mistakes:
        with pytest.raises(TstmetaError) as raised:
            analyse(data, SCORES[SCORES["item_id"].isin(data.items["item_id"])], **options)
        yield str(raised.value)


def agreements() -> Iterator[str]:
    flat = replace(DATA, name="flat", ratings=DATA.ratings.assign(value=3.0), card=Card("flat"))
    sets = [UNEVEN, SLOTS, DATA, rated(raters=False), rated(systems=False), tiny(), constructed()]
    sets += [flat, Dataset.of("bare", DATA.items.assign(dataset="bare"))]
    for data in sets:
        yield people.agreement_facts(data).to_csv(index=False)
    for dimension in advice.DIMENSIONS:
        yield tables(tst.ceiling(sets, dimension), tst.alpha(sets, dimension))
    yield tables(*(tst.ceiling([DATA, UNEVEN], "content", *at[:2]) for at in SETTINGS))
    pairs = tst.pairs(UNEVEN, HOLES)
    for statistic in ("pearson", "spearman", "kendall"):
        yield tables(tst.partial(pairs, "style", statistic, draws=40, seed=2))
        yield tables(tst.partial(pairs, ["style", "fluency"], statistic))


def pooled() -> Iterator[str]:
    parts = []
    for seed, task in enumerate(["formality", "detoxification", "formality", "sentiment"] * 2):
        facts = {"task": task, "language": "en de"[: 2 + seed], "year": 2000 + seed, "reason": ""}
        facts |= {"outputs": "model", "panel": "stress" if seed == 7 else "pool"}
        pairs = tst.pairs(rated(seed), SCORES).dropna(subset="score").assign(dataset=f"set {seed}")
        parts.append(tst.effects(pairs, "content", draws=40, seed=seed).assign(**facts))
    effects = pd.concat(parts, ignore_index=True).assign(family=lambda rows: rows["dataset"])
    for method in ("pm", "dl"):
        yield tables(tst.pool(effects, method))
    for references in (False, True):
        for task, language in (("", ""), ("formality", "en"), ("sentiment", "de"), ("haiku", "")):
            table = verdicts.verdicts(effects, "content", references, task, language, 0.0, 40.0)
            known = table[table["metric"] != "released:wmd"]
            yield tables(table)
            yield str(verdicts.recommend(known[:2], effects, "content", task, language))


def advised() -> Iterator[str]:
    about = [("", ""), ("formal", "en"), ("detox", "ru"), ("haiku", "pt-BR"), (DATA, "polite", "")]
    for words in about:
        result = tst.advise(*words[-3:-2], task=words[-2], language=words[-1])
        # whether models are here differs by machine
        notes = tuple(note for note in result.notes if "does not run here" not in note)
        yield str(replace(result, notes=notes))
    for task, language in about[:4]:
        yield from (str(tst.verdict(name, task, language)) for name in advice.DIMENSIONS)
    yield tables(*(verdicts.beyond(tst.evidence(name), "detox") for name in advice.DIMENSIONS))
    yield from (advice.profile(data).to_csv() for data in (DATA, UNEVEN))


CASES = {text.__name__: text for text in (paired, reports, agreements, pooled, advised)}
for text, at in product((evaluations, comparisons), SETTINGS):
    CASES["-".join([text.__name__, *at[:2]])] = partial(text, *at)


@pytest.mark.parametrize("name", CASES)
def test_what_is_printed_is_what_was_read(name):
    expected = (PRINTED / f"{name}.txt").read_text(encoding="utf-8")
    assert rounded("\n".join(CASES[name]())) == expected


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        (PRINTED / f"{name}.txt").write_text(rounded("\n".join(CASES[name]())), encoding="utf-8")
