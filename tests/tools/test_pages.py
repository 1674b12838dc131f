"""The pages made from data: all there, whole, with what the data say, and safe to show."""

import math
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import tstmeta as tst
from tests.analysis.tiny import HOSTILE
from tools import front, metric_cards, pages, papers, ship, tables
from tstmeta import data
from tstmeta.analysis import choice, verdicts
from tstmeta.data import Card, paths
from tstmeta.ledger.cells import PAPERS, cells
from tstmeta.metrics import Request, get, names

ROOT = Path(__file__).parents[2]
CARDS = sorted(path.stem for path in paths.project("metric_cards").glob("*.md"))
#: What comes with the project.
OWN = {"contrast"}


def tags(fragment: str) -> set[str]:
    """The tags of a fragment, all of which are closed."""
    closed = re.sub(r"<img([^>]*)>", r"<img\1/>", fragment)
    return {node.tag for node in ElementTree.fromstring(f"<page>{closed}</page>").iter()}


def is_a_table(fragment: str) -> bool:
    """Whether a fragment is a table and nothing else, with all its tags closed."""
    return tags(fragment) <= {"page", "div", "table", "thead", "tbody", "tr", "th", "td"}


def parts(text: str) -> list[str]:
    """The HTML in a page's raw directives."""
    return re.findall(r"^```\{raw\} html\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)


def plain(text: str) -> str:
    """A page without tags, white space as single blanks."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", text)).split())


#: What the pages are made of; ``dodo.py`` names the same.
MADE_OF = [ROOT / name for name in ("src/tstmeta", "tools", "book/templates", "benchmarks/results")]
MADE_OF += [path for path in ROOT.glob("data/*") if path.name not in ("external", "scores")]


def built_pages() -> Path | None:
    """The book's pages; None where what they are made of is newer, or raw files were here."""
    folder, manifest = ROOT / "book" / "_generated", ROOT / ".build" / "pages.json"
    if not manifest.is_file() or not (folder / "data.md").is_file():
        return None
    read = (path for place in MADE_OF for path in place.rglob("*.*"))
    newest = max(path.stat().st_mtime for path in read if "__pycache__" not in path.parts)
    here = {name for name, state in states(folder).items() if state not in ("numbers", "no")}
    return folder if here == OWN and newest < manifest.stat().st_mtime else None


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The pages of a machine without raw data, as this one is now: the book's, or written anew."""
    folder = tmp_path_factory.mktemp("without")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTMETA_DATA", str(folder / "none"))
        patch.setattr(paths, "external", lambda: folder / "external")
        if (built := built_pages()) is None:
            built = folder / "pages"
            pages.write(built)
        yield built


def states(folder: Path) -> dict[str, str]:
    """What the list of data sets says of each: whether it is here."""
    row = r"^\| \[(\w+)\]\(cards/\w+\.md\) \|.*\| (\w+) \|$"
    return dict(re.findall(row, page(folder, "data.md"), re.MULTILINE))


def test_without_raw_files_every_claim_has_a_verdict_and_says_what_was_frozen(without):
    text = (without / "claims.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \{ref\}.* \| (.) ([a-z ]+) \|", text, re.MULTILINE)
    assert set(listed) == {("✓", "holds"), ("✗", "does not hold"), ("?", "cannot be told")}
    details = "".join(path.read_text(encoding="utf-8") for path in without.glob("claims/*.md"))
    frozen = details.count(".** Frozen: computed where all its data were (`tstmeta data fetch")
    assert 5 < frozen < 20


def page(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_every_page_has_one_title_and_its_html_is_whole(without):
    for path in without.rglob("*.md"):
        text, is_front = path.read_text(encoding="utf-8"), path.name == "front.md"
        assert text.startswith("## " if is_front else "# "), path
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == (not is_front), path
        assert text.count("```") % 2 == 0, path
        assert "{{" not in text, path
        for fragment in parts(text):
            assert tags(fragment), path


# -------------------------------------------------------------------------------------- a table


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_and_names_are_escaped(text):
    [fragment] = parts(tables.table(pd.DataFrame({text: [text, "b"]})))
    assert is_a_table(fragment)
    assert plain(fragment).count(" ".join(text.split())) == 2
    [fragment] = parts(tables.facts({text: text}))
    assert is_a_table(fragment)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.12345, "0.123"), (-0.5, "−0.500"), (-0.00001, "−1e−05"), (math.nan, "–")),
        *((12345, "12,345"), (True, "yes"), ("-1", "-1")),
    ],
)
def test_a_value_is_shown_with_what_it_needs(value, shown):
    (fragment,) = parts(tables.table(pd.DataFrame({"a": [value]})))
    assert plain(fragment) == f"a {shown}"


# ------------------------------------------------------------------------------------ data cards


def test_the_list_links_every_data_set_and_says_whether_it_is_here(without):
    state = {**dict.fromkeys(ship.PARTS, "numbers"), **dict.fromkeys(OWN, "yes")}
    assert list(states(without).items()) == [(name, state.get(name, "no")) for name in data.names()]


@pytest.mark.parametrize("name", data.names())
def test_a_card_has_its_facts_and_prose(without, name):
    text, card = page(without, f"cards/{name}.md"), Card.read(name)
    assert text.startswith(f"# {card.title}\n")
    assert card.body in text
    for key in ("task", "raters", "licence", "url"):
        if value := card.facts.get(key):
            assert " ".join(f"{key} {value}".split()) in plain(text)
    assert f"sentences may be shown {'yes' if card.facts.get('examples') else 'no'}" in plain(text)
    assert (f"`tstmeta data fetch {name}`" in text) == (name not in OWN)


# ---------------------------------------------------------------------------------- metric cards


@pytest.mark.parametrize("name", CARDS)
def test_every_card_names_variants_that_there_are(name):
    card = metric_cards.card(name)
    assert {"measures", "fails", "cost"} <= set(card.facts)
    files = re.compile(r"\.(csv|json|txt|conllu)$")
    for variant in set(re.findall(r"`([\w-]+:[\w+.-]+)`", card.body)):
        if variant.partition(":")[0] in names() and not files.search(variant):
            assert get(variant).name == variant


@pytest.fixture(scope="module")
def overview(without):
    """The catalogue on a machine without raw data."""
    return tst.metrics()


def test_every_variant_is_on_its_page_with_its_signature_or_what_it_needs(without, overview):
    for row in overview.to_dict("records"):
        text = plain(page(without, f"metrics/{row['name'].partition(':')[0]}.md"))
        facts = " ".join((row["signature"] or row["remedy"]).split())
        absent = row["family"] == "graph" or "not on this machine" in text
        assert facts in text or absent, row["name"]


def test_the_example_of_a_page_is_computed(without):
    text = page(without, "metrics/bleu.md")
    assert "printed as pauli2025: BLEU; lai2023: BLEU; mukherjee2025: BLEU" in plain(text)
    for row in metric_cards.example().items.to_dict("records"):
        (score,) = get("bleu").score([Request(row["output"], (row["source"],))])
        assert f">{score.value:.3f}<" in text


@pytest.mark.parametrize(
    ("name", "dimension", "basis"), [("chrf", "content", "reference"), ("slor", "fluency", "none")]
)
def test_verdict_accuracy_best_and_worst_sets_are_those_of_the_evidence(name, dimension, basis):
    head = f"{name}: {dimension}" + f" ({basis})" * (basis != "none")
    shown = metric_cards.known(name).set_index("")[head]
    rules = tst.verdicts(dimension=dimension, references=basis == "reference")
    row = rules[rules["metric"] == name].iloc[0]
    assert (shown["verdict"], shown["because"]) == (row["verdict"], row["reason"])
    mean = f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
    assert shown["accuracy"] == f"{mean} ({row['families']} families)"
    own = tst.evidence(dimension).query(
        "metric == @name and basis == @basis and statistic == 'accuracy' and level != 'system'"
    )
    values = own[own["panel"] == "pool"].set_index("dataset")["value"].dropna().sort_values()
    for label, some in (("worst on", values[:3]), ("best on", values[::-1][:3])):
        words = shown[label].split("; ")
        assert [" ".join(w.split()[:2]) for w in words] == [f"{d} {v:.2f}" for d, v in some.items()]
    stress = own[(own["panel"] == "stress") & own["value"].notna()]["dataset"]
    assert [w.split()[0] for w in shown["stress sets"].split("; ") if w] == stress.tolist()


def test_what_is_known_stands_on_the_page_and_is_escaped(monkeypatch, overview):
    judge = overview[overview["name"].str.partition(":")[0] == "judge"]
    monkeypatch.setattr(metric_cards, "known", lambda _: pd.DataFrame({"": HOSTILE, "x": HOSTILE}))
    text = pages.render("metric", metric_cards.page(metric_cards.card("judge"), judge))
    assert is_a_table(parts(text)[0])


# ---------------------------------------------------------------------------- the front page


@pytest.fixture(scope="module")
def fragments(without):
    """Answers, figures and needs of a machine without raw data."""
    return [BeautifulSoup(part, "lxml") for part in parts(page(without, "front.md"))]


def rows(fragment):
    return {row.th.get_text(): [plain(str(cell)) for cell in row("td")] for row in fragment("tr")}


@pytest.mark.parametrize(
    ("task", "language"), [*((task, "en") for task in front.TASKS), ("detoxification", "ru")]
)
@pytest.mark.parametrize(("place", "dimension"), enumerate(front.DIMENSIONS))
def test_front_page_advice_chapter_and_metric_page_say_the_same(
    fragments, task, language, place, dimension
):
    found = tst.verdict(dimension, task, language)
    cell = rows(fragments[0])[task if language == "en" else f"{task} in Russian"][place]
    both = [found, found.anywhere] if found.anywhere else [found]
    tried = {name for names in choice.DEFAULTS[dimension].values() for name in names}
    assert {verdict.metric for verdict in both} <= {"", *tried}  # evaluate has it among its rows
    for verdict in both:
        assert str(verdict._replace(anywhere=None)) in cell.replace("*", "").replace(" :", ":")
        assert not verdict.metric or f", {verdict.row['own']} famil" in cell
    advice = tst.advise(task=task, language=language, dimensions=[dimension])
    assert advice.answer[0] == f"{dimension}: {found}"
    if language == "en":
        line = f"{dimension}, {task}: {found}"
        for stem in {verdict.metric.partition(":")[0] for verdict in both if verdict.metric}:
            assert line in metric_cards.for_tasks(stem)
        chapter = ROOT / "book" / "results" / "17_synthesis.ipynb"
        if dimension == "content" and chapter.is_file():
            assert line in chapter.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("verdict", "low", "wanted"),
    [
        *(("do not use", 0.6, "none"), ("unknown", 0.6, "unknown"), ("with care", 0.5, "none")),
        *(("with care", 0.6, "with care"), ("use", 0.6, "use")),
    ],
)
def test_no_metric_is_named_where_none_may_be_used(monkeypatch, verdict, low, wanted):
    row = {"metric": "bleu", "verdict": verdict, "reason": "<b>", "mean": 0.6, "low": low}
    table = tst.verdicts().head(1).assign(**row)
    monkeypatch.setattr(verdicts, "verdicts", lambda *_, **__: table)
    first = front.answer("content", False)
    assert first["verdict"] == wanted
    assert ("metric" in first) == (wanted in ("use", "with care"))


# ----------------------------------------------------------------------------------------- ledger


def test_every_cell_of_the_ledger_is_on_its_page(without):
    for paper in PAPERS:
        source = page(without, f"ledger/{paper}.md")
        text = plain(source.replace("<wbr>", ""))
        own = cells(paper)
        assert [cell.cell for cell in own if cell.cell.split(".", 2)[2] not in text] == []
        heads = re.findall(r"^## (?:Table|Figure) (\w+)$", source, re.M)
        assert heads == [table.removeprefix("fig") for table in dict.fromkeys(c.table for c in own)]
    assert "The four papers print 2,289 numbers" in page(without, "ledger.md")


def is_whole(rows: pd.DataFrame) -> None:
    """Every cell that does not match stands under one reason of its paper, and is counted there."""
    context = papers.departures(rows)
    text = pages.render("departures", context)
    for paper in context["papers"]:
        given = [(cell, row["status"]) for row in paper["reasons"] for cell in row["cells"]]
        other = rows[(rows["paper"] == paper["key"]) & (rows["status"] != "match")]
        assert sorted(given) == sorted(zip(other["cell"], other["status"], strict=True))
        lines = text.partition(f"## {paper['title']}")[2].partition("\n## ")[0].splitlines()
        for row in paper["reasons"]:
            start = f"- **{row['status']}**, {len(row['cells'])} of {row['tables']}"
            shown = [line for line in lines if line.startswith(start)]
            assert row["reason"]
            assert [line.endswith(f": {row['reason']}.") for line in shown].count(True) == 1
    assert f" {context['matched']} match" in text
