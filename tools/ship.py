"""Write the numbers that the project passes on: ``python -m tools.ship WHAT [NAME ...]``.

::

    ratings [SET ...]   data/ratings/SET: items without texts, ratings, all scores, the licence
    served FILE ...     data/ratings/SET/served.parquet: what a served judge answered, without its
                        words, from files of ``tstmeta judge run --out``
    frozen NAME ...     data/frozen/NAME.csv: the main frame of notebook NAME of the last book;
                        ``claims``, ``effects`` and ``sets`` are computed now, and
                        ``judges`` is ``independence`` of chapter 20, ``judged_more`` of 14
    tokens              data/tokens.parquet: what language models gave for texts of ours, from the
                        store of a book that was built without raw files, and without this file
    weights             the weights of ``tst-content``, of chapter 27
    exercises           the hashes of data/exercises/answers.csv
    nightly             tests/nightly/report.csv: how the last ``make nightly`` went, file by file

``ratings`` and ``frozen`` need the raw files of the sets, and the models of Yelp.  The answers of
exercises are computed by the lessons: a hidden solution ends with ``tst.check(exercise, answer)``.
"""

import contextlib
import io
import re
import secrets
import sqlite3
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pandas as pd

import tstmeta as tst
from experiments.judged import JUDGE, SAMPLED, sample_of
from tools.book import CHOICES, CONTENT, MODELS, ROOT, SHOWN, TOKENS, YELP, runnable
from tools.claims import Claims
from tools.claims import claims as judged_claims
from tstmeta import exercises, scoring
from tstmeta.analysis import advice, synthesis
from tstmeta.analysis.choice import SEEDS
from tstmeta.analysis.synthesis import ACCURACY, HEAD, SAME_SOURCE
from tstmeta.console import note
from tstmeta.data import Card, Dataset, paths, shipped
from tstmeta.judge.ratings import read as read_answers
from tstmeta.metrics.weighted import TstContent
from tstmeta.schema import MissingData, Status, TstmetaError
from tstmeta.scoring import failures
from tstmeta.store import FILE

#: How tables are written.
SMALL: dict[str, Any] = {"compression": "zstd", "compression_level": 19}
#: Where ``make nightly`` reports its tests.
NIGHTLY = ROOT / ".build/nightly.xml"

# -------------------------------------------------------------------------- ratings and scores

#: What is scored of rewrites that pages show, what on Yelp besides, and what of other rewrites;
#: by the larger encoder, too.
MPNET = ("cosine:mpnet", "bertscore:mpnet")
EVERY = (*SHOWN, "lexical", *MODELS, *MPNET, *SEEDS)
LESS = (*SHOWN, *CONTENT, *MPNET)
#: By the larger language model, and judges without a server: of the sets that chapter 26 shows.
SIZES = (
    *("likelihood:qwen2.5-coder-1.5b", "likelihood-style:qwen2.5-coder-1.5b", "judge"),
    *("judge:style", "judge:qwen2.5-coder-1.5b", "judge:qwen2.5-coder-1.5b+style"),
)
#: Data sets whose licence lets their numbers be passed on: their parts, and what is scored of each.
PARTS = {
    "pauli": {"pauli": (*EVERY, *CHOICES, *SIZES)},
    "lai": {"lai": (*EVERY, *CHOICES, *SIZES, "perplexity:gemma-3-270m")},
    "li2018": {
        "li2018@yelp-rated": (*EVERY, *YELP),
        **dict.fromkeys(("li2018@amazon-rated", "li2018@captions-rated"), LESS),
    },
    "alva": dict.fromkeys(("alva@asset", "alva@simplicity_da", "alva@structural"), EVERY),
    **{name: {name: EVERY} for name in ("russe2022", "sottana", "deplain")},
    **{name: {name: (*EVERY, "perplexity:gemma-3-270m")} for name in ("strap", "sulem2018")},
}
#: Our own set, whose texts are always here: nobody has to wait for scores that do not change.
OURS = {"contrast": {"contrast": (*EVERY, *CHOICES), "contrast@tied": SIZES}}
#: What a served judge was, and what it was asked.
JUDGE_COLUMNS = ("model", "revision", "prompt", "prompt_hash", "dimension")


def ratings(*names: str) -> None:
    """Write the data sets named, or all."""
    for name in names or PARTS | OURS:
        scores, target = scored(name, paths.scores()), shipped.folder(name)
        for file in [*target.rglob("*.parquet")]:
            if file.name != "served.parquet":  # is of another run
                file.unlink()
        write(tst.load(name), scores, target)
        facts, title = Card.read(name).facts, Card.read(name).title
        source = f" Made from {facts['url']} at {facts['commit']}." if facts["url"] else ""
        (target / "README.md").write_text(
            f"# {title}\n\nRatings and scores without texts.{source}\n\nLicence of the data"
            f" set: {facts['licence']}.\n\nCite"
            f" `{facts['citation']}` (book/references.bib); see data/cards/{name}.md.\n",
            encoding="utf-8",
        )
        note(f"{name}: {len(scores)} scores")


def write(data: Dataset, scores: pd.DataFrame, target: Path) -> None:
    """Write the numbers of a data set, with our scores of it, a file a metric."""
    tables = shipped.numbers(data) | {"scores/released": data.scores}
    scores = scores[scores["status"] != str(Status.ERROR)]
    for stem, rows in scores.groupby(scores["metric"].str.partition(":")[0]):
        tables[f"scores/{stem}"] = rows
    target.joinpath("scores").mkdir(parents=True, exist_ok=True)
    for table, frame in tables.items():
        if len(frame):
            frame.drop(columns="dataset").reset_index(drop=True).to_parquet(
                target / f"{table}.parquet", index=False, **SMALL
            )


def served(*files: str) -> None:
    """Write the ratings and statuses of a judge behind a server; its words may quote the texts."""
    rows = pd.concat([read_answers(file) for file in files])
    for name, answers in rows.groupby("dataset"):
        answers = answers[[*JUDGE_COLUMNS, "item_id", "rating", "status"]].reset_index(drop=True)
        answers.to_parquet(shipped.folder(str(name)) / "served.parquet", index=False, **SMALL)


def scored(name: str, store: Path) -> pd.DataFrame:
    """The scores of a data set that are passed on, of this store or computed, and of no other."""
    parts = (PARTS | OURS)[name].items()
    tables = [scoring.score(tst.load(p), runnable([*names]), store=store) for p, names in parts]
    for part in [p for p in SAMPLED if p.partition("@")[0] == name and p != "contrast@tied"]:
        tables.append(scoring.score(sample_of(tst.load(part)), runnable([JUDGE]), store=store))
    table = pd.concat(tables, ignore_index=True)
    seeds = table["metric"].isin(SEEDS[1:])  # they are compared with the source alone
    table = table[~seeds | (table["basis"] == "source")]
    sound = table.loc[table["status"] != str(Status.ERROR), "metric"]
    if failed := sorted({*table["metric"]} - {*sound}):
        raise TstmetaError(f"{name}: no score of {', '.join(failed)}: {failures(table)[0]}")
    return table


# ----------------------------------------------------------------------------------- frozen frames

#: What is frozen beside the headline statistic: statistic and level.
SECOND = (("pearson", "same-source"), ("kendall", "same-source"), ("accuracy", "system"))
#: Frames of a chapter beside its headline, and where its execution leaves them.
BESIDE = {
    "judges": "20_released_judges.independence",
    "judged_more": "14_judges.judged_more",
}


def frozen(*names: str) -> None:
    """Write the frames named."""
    for name in names:
        sets = list(synthesis.panels().query("panel != 'out'").itertuples())
        if name == "effects":
            table = pd.concat([effects(row.dataset, row.dimensions.split()) for row in sets])
        elif name == "sets":
            profiles = [advice.profile(tst.load(row.dataset)) for row in sets]
            table = pd.DataFrame(profiles).rename_axis("dataset").reset_index()
        elif name in BESIDE:
            table = pd.read_parquet(ROOT / ".build" / "frames" / f"{BESIDE[name]}.parquet")
        elif name == "claims":
            table = claims(judged_claims())
        else:
            file = ROOT / ".build" / "frames" / f"{name}.headline.parquet"
            table = pd.read_parquet(file).reset_index()
        digits = "%.6g" if name in ("effects", "sets") else None
        table.to_csv(paths.project("frozen", f"{name}.csv"), index=False, float_format=digits)


#: Large language models that were asked without examples of the task's ratings or with some, and
#: classifiers that were trained for the style; none that was tuned to people's ratings.
JUDGES = re.compile(r"released:(chatgpt|gpt-|openai|deepseek|qwen|llama)(?!.*tuned)")
CLASSIFIERS = re.compile(r"released:(c-gyafc|c-pt16|cls-(old|new)-gen)")


@cache
def claiming(dimension: str) -> set[str]:
    """The metrics that claim a dimension, and the sentinels."""
    claimed = tst.metrics().set_index("name")["dimension"]
    able = {metric for metric, text in claimed.items() if dimension in text.split()}
    return able | {name for name in MPNET if name.partition(":")[0] in able}


def tokens() -> None:
    """Write the log-probabilities that the store has."""
    query = (
        "SELECT s.signature, key, logprobs FROM tokens JOIN signatures s ON id = tokens.signature"
    )
    with contextlib.closing(sqlite3.connect(paths.scores() / FILE)) as store:
        rows = pd.read_sql(f"{query} ORDER BY s.signature, key", store)
    rows.to_parquet(TOKENS, index=False, **SMALL)


def weights() -> None:
    """Write the weights of ``tst-content`` that the last book fitted."""
    rows = pd.read_parquet(ROOT / ".build" / "frames" / "27_combination.weighted.parquet")
    families = ", ".join(f'"{name}"' for name in rows.index.drop("all"))
    lines = ["[tst-content]", 'version = "1"', f"families = [{families}]", "[tst-content.weights]"]
    for name, row in rows.iterrows():
        variant = "all" if name == "all" else f"without-{str(name).replace(' ', '-')}"
        values = ", ".join(f'"{part}" = {value:.6g}' for part, value in row.items())
        lines.append(f"{variant} = {{{values}}}")
    file = ROOT / "src" / "tstmeta" / "metrics" / "weighted.toml"
    file.write_text("\n".join(["# Written by tools.ship from chapter 27 of the book.", *lines, ""]))


def effects(name: str, dimensions: list[str]) -> pd.DataFrame:
    """What one data set says of the metrics that claim a dimension, of sentinels and of people."""
    data = tst.load(name)
    referenced = (data.items["references"].map(len) > 0).all()
    bases = ["source", "none", *(["reference"] if referenced else [])]
    scores = tst.score(data, runnable([*SHOWN, *MODELS, *MPNET]), bases, progress=False)
    parts = [*released(data, dimensions), *combined(data, scores, dimensions)]
    for dimension in dimensions:
        pairs = tst.pairs(data, scores, dimension)
        fits = pairs["metric"].isin(claiming(dimension))
        pairs = pairs[fits & pairs.groupby(["metric", "basis"])["score"].transform("count").gt(0)]
        parts += [synthesis.effects(pairs, dimension), human_effects(data, dimension)]
        for other, level in SECOND:
            if level != "system" or data.items["system"].replace("", pd.NA).nunique() > 2:
                more = synthesis.effects(pairs, dimension, other, level)
                parts.append(more[more["against"] == ""])
    return pd.concat([part for part in parts if len(part)])


def released(data: Dataset, dimensions: list[str]) -> Iterator[pd.DataFrame]:
    """What judges and classifiers show whose scores came with a set, and classifiers of Yelp."""
    names = data.scores["metric"].unique()
    kinds = {"judge": [n for n in names if JUDGES.match(n)]}
    kinds["classifier"] = [n for n in names if CLASSIFIERS.match(n)]
    kinds["classifier"] += ["style-confidence:yelp"] * data.name.startswith(("mir", "li2018@yelp"))
    for kind, members in kinds.items():
        scores = tst.score(data, members, progress=False)
        for dimension in [d for d in dimensions if d in set(scores["dimension"])]:
            pairs = tst.pairs(data, scores[scores["dimension"] == dimension], dimension)
            if pairs["score"].notna().any():
                table = synthesis.effects(pairs, dimension)
                yield table[table["against"] == ""].assign(kind=kind)


def combined(data: Dataset, scores: pd.DataFrame, dimensions: list[str]) -> Iterator[pd.DataFrame]:
    """What ``tst-content`` and its judge show on the sample that the judge has read, and their
    differences to all others on it; without weights that have seen the family.
    """
    if data.name not in SAMPLED or "content" not in dimensions:
        return
    read, family = sample_of(data), synthesis.panels().set_index("dataset")["family"][data.name]
    variant = f"without-{family.replace(' ', '-')}"
    name = f"tst-content:{variant}" if variant in TstContent.VARIANTS else "tst-content"
    more = tst.score(read, [name, JUDGE], ["source"], progress=False)
    more["metric"] = more["metric"].replace({name: "tst-content"})
    scores = pd.concat([scores[scores["item_id"].isin(read.items["item_id"])], more])
    pairs = tst.pairs(read, scores[scores["basis"] == "source"], "content")
    able = {*claiming("content"), JUDGE}
    table = synthesis.effects(pairs[pairs["metric"].isin(able)], "content")
    yield table[table[["metric", "against"]].isin(["tst-content", JUDGE]).any(axis=1)]


def human_effects(data: Dataset, dimension: str) -> pd.DataFrame:
    """One rater against the others as an effect without standard error; no row without ratings."""
    if not data.against(dimension) or dimension not in data.dimensions:
        return pd.DataFrame()
    row = tst.ceiling(data, dimension, ACCURACY, SAME_SOURCE).iloc[0]
    key = (dimension, ACCURACY, SAME_SOURCE, "rater", "none", "people", "", "")
    head = {"dataset": data.name, **dict(zip(HEAD, key, strict=True)), "value": row["value"]}
    rest = dict.fromkeys(("se", "sources", "pairs"), float("nan"))
    return pd.DataFrame([head | rest]).dropna(subset="value")


def claims(judged: Claims) -> pd.DataFrame:
    """One row a number of evidence, one for a claim without any."""
    if judged.verdicts["why"].str.startswith("Frozen:").any():
        raise MissingData("claims are frozen where all their data are: tstmeta data fetch --all")
    table = judged.verdicts[["claim", "verdict", "why"]].merge(judged.evidence, "left", "claim")
    counts = {"n": int, "published": int}
    return table.fillna(dict.fromkeys(counts, 0)).astype(counts)


# -------------------------------------------------------------------------------- exercises

#: Code in a page's text that hands an answer in.
SOLUTION = re.compile(r"^```python\n((?:(?!```).*\n)*?.*tst\.check\(.*\n(?:(?!```).*\n)*)```", re.M)


def lesson(exercise: str) -> Path:
    """The notebook of an exercise: ``lesson-4-2`` stands in ``lesson_4_….ipynb``."""
    number = exercise.split("-")[1]
    return next((ROOT / "notebooks").glob(f"lesson_{number}_*.ipynb"))


def answers(path: Path, tags: set[str]) -> dict[str, Any]:
    """The true answers of a lesson, from its solutions, after the cells with one of these tags."""
    values: dict[str, Any] = {}
    space: dict[str, Any] = {"__name__": "notebook", "check": values.__setitem__}
    cells = nbformat.read(path, as_version=4).cells
    run = [
        cell.source
        for cell in cells
        if cell.cell_type == "code" and {"parameters", *tags} & set(cell.metadata.get("tags", []))
    ]
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    solutions = [code for text in texts for code in SOLUTION.findall(text)]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for source in (*run, *solutions):
            exec(compile(source.replace("tst.check(", "check("), path.stem, "exec"), space)
    return values


def accepted(row: dict[str, str], answer: Any) -> list[str]:
    """Hashes of a true answer and of the cells beside it; sorted, so that none stands out."""
    true = exercises.form(row, answer)
    near = (true - 1, true, true + 1) if isinstance(true, int) else (true,)
    return sorted(exercises.hashed(row, cell) for cell in near)


def hashed(rows: dict[str, dict[str, str]]) -> pd.DataFrame:
    """The rows with the hashes of the true answers; a row keeps the salt that it has."""
    tags: dict[Path, set[str]] = {}
    for name, row in rows.items():
        tags.setdefault(lesson(name), set()).update(row["cells"].split())
    true = {name: answer for path in tags for name, answer in answers(path, tags[path]).items()}
    fresh = []
    for name, row in rows.items():
        salted = {**row, "salt": row["salt"] or secrets.token_hex(4)}
        fresh.append({**salted, "hashes": " ".join(accepted(salted, true[name]))})
    return pd.DataFrame(fresh)


def nightly(report: ElementTree.ElementTree) -> pd.DataFrame:
    """Tests of a JUnit report by file: how many passed, were skipped and failed, and seconds."""
    rows = []
    for case in report.iter("testcase"):
        parts = case.get("classname", "").split(".")  # a class of tests is part of its file
        file = "/".join(part for part in parts if part[:1].islower())
        ends = {end.tag for end in case}
        failed = bool(ends & {"failure", "error"})
        state = "failed" if failed else "skipped" if "skipped" in ends else "passed"
        rows.append({"file": f"{file}.py", state: 1, "seconds": float(case.get("time", 0))})
    table = pd.DataFrame(rows, columns=["file", "passed", "skipped", "failed", "seconds"])
    table = table.groupby("file", as_index=False).sum().round({"seconds": 1})
    return table.astype({"passed": int, "skipped": int, "failed": int})


def main(what: str = "", *names: str) -> None:
    """Write what is named."""
    match what:
        case "ratings":
            ratings(*names)
        case "served":
            served(*names)
        case "frozen":
            frozen(*names)
        case "tokens":
            tokens()
        case "weights":
            weights()
        case "exercises":
            hashed(exercises.rows()).to_csv(paths.project("exercises", "answers.csv"), index=False)
        case "nightly":
            report = ROOT / "tests/nightly/report.csv"
            nightly(ElementTree.parse(NIGHTLY)).to_csv(report, index=False)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
