"""The pages made from data: all there, whole, with what the data say, and safe to show."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests import written
from tests.analysis.tiny import HOSTILE
from tests.helpers import needs
from tools import metric_cards, pages, ship, tables
from tstmeta import data
from tstmeta.data import Card, paths
from tstmeta.ledger.cells import PAPERS, cells
from tstmeta.metrics import PairMetric, Request, catalogue, get, names
from tstmeta.metrics.base import Score
from tstmeta.models.causal import EMBEDDED
from tstmeta.schema import Status, TstmetaError

CARDS = sorted(path.stem for path in paths.own("metric_cards").glob("*.md"))
PAGES = {
    *("front.md", "data.md", "metrics.md", "speed.md", "certainty.md", "backbone.md", "trained.md"),
    *("reliability.md", "reviewer.md"),
    *("claims.md", "departures.md", "ledger.md", *(f"ledger/{paper}.md" for paper in PAPERS)),
    *(f"metrics/{name}.md" for name in CARDS),
    *(f"cards/{name}.md" for name in data.names()),
}
#: What comes with the project.
OWN = {"contrast", "world"}


class Tags(HTMLParser):
    """Which tags of a fragment are open at its end, and which there were."""

    def __init__(self, fragment: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(fragment)
        self.close()

    def handle_starttag(self, tag, _attrs):
        self.seen.add(tag)
        if tag not in ("br", "img", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag


def parts(text: str) -> list[str]:
    """The HTML in a page's raw directives."""
    return re.findall(r"^```\{raw\} html\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)


def plain(text: str) -> str:
    """A page without tags, white space as single blanks."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", text)).split())


#: What the pages are made of; ``dodo.py`` names the same.
OURS = "contrast world published cards metric_cards transfer ratings frozen"
MADE_OF = ("src/tstmeta", "tools", "book/templates", "benchmarks/results")
MADE_OF += tuple(f"data/{name}" for name in OURS.split())


def of_the_book(root: Path = written.ROOT) -> Path | None:
    """The book's pages, as `make test` builds them; None where they are older than what they are
    made of, or were made with raw files.
    """
    folder, manifest = root / "book" / "_generated", root / ".build" / "pages.json"
    if not manifest.is_file() or not (folder / "data.md").is_file():
        return None
    parts = [path for name in MADE_OF for path in (root / name).rglob("*")]
    parts = [
        path
        for path in (*parts, root / "requirements.lock")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    built = manifest.stat().st_mtime
    here = {name for name, state in states(folder).items() if state not in ("numbers", "no")}
    return folder if here == OWN and all(path.stat().st_mtime < built for path in parts) else None


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The pages of a machine without raw data: those of the book, or written anew."""
    if (built := of_the_book()) is not None:
        return built
    folder = tmp_path_factory.mktemp("without")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTMETA_DATA", str(folder / "none"))
        patch.setattr(paths, "external", lambda: folder / "external")
        pages.write(folder / "pages")
    return folder / "pages"


def states(folder: Path) -> dict[str, str]:
    """What the list of data sets says of each: whether it is here."""
    row = r"^\| \[(\w+)\]\(cards/\w+\.md\) \|.*\| (\w+) \|$"
    return dict(re.findall(row, page(folder, "data.md"), re.MULTILINE))


@pytest.mark.parametrize("what", ["code", "raw file", "nothing"])
def test_the_books_pages_stand_for_those_of_now_only_where_nothing_differs(tmp_path, what):
    generated, code = tmp_path / "book" / "_generated", tmp_path / "src" / "tstmeta" / "x.py"
    rows = [f"| [{name}](cards/{name}.md) | x | yes |" for name in sorted(OWN)]
    rows.append(f"| [lai](cards/lai.md) | x | {'yes' if what == 'raw file' else 'numbers'} |")
    for path in (code, generated / "data.md", tmp_path / ".build" / "pages.json"):
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(rows))
    os.utime(code, (1, 2e10 if what == "code" else 1))
    assert of_the_book(tmp_path) == (generated if what == "nothing" else None)


def test_without_raw_files_every_claim_has_a_verdict_and_says_what_was_frozen(without):
    text = (without / "claims.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \{ref\}.* \| (.) ([a-z ]+) \|", text, re.MULTILINE)
    assert set(listed) == {("✓", "holds"), ("✗", "does not hold"), ("?", "cannot be told")}
    assert 5 < text.count(".** Frozen: computed where all its data were (`tstmeta data fetch") < 20


def page(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


# -------------------------------------------------------------------------------- all are there


def test_every_page_is_written_and_nothing_else(without):
    files = {path.relative_to(without).as_posix() for path in without.rglob("*") if path.is_file()}
    assert files == PAGES


def test_the_contents_of_the_book_list_every_page_that_is_written():
    contents = yaml.safe_load((written.ROOT / "_toc.yml").read_text())
    listed = re.findall(r"book/_generated/([\w*/-]+)", str(contents))
    files = {name for name in PAGES if "/" not in name} - {"front.md"}  # which the start includes
    assert files == {f"{name}.md" for name in listed if "*" not in name}
    folders = {name.partition("/")[0] for name in PAGES if "/" in name}
    assert folders == {name.partition("/")[0] for name in listed if "*" in name}


def test_every_page_has_one_title_and_its_html_is_whole(without):
    for name in PAGES:
        text = page(without, name)
        assert text.startswith("## " if name == "front.md" else "# "), name
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == (name != "front.md"), name
        assert text.count("```") % 2 == 0, name
        assert "{{" not in text, name
        for fragment in parts(text):
            assert Tags(fragment).open == [], name


def test_every_citation_is_in_the_bibliography(without):
    known = set(re.findall(r"^@\w+\{([^,]+),", page(written.ROOT / "book", "references.bib"), re.M))
    for name in PAGES:
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", page(without, name)):
            assert {key.strip() for key in keys.split(",")} <= known, name


# -------------------------------------------------------------------------------------- a table


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_and_names_are_escaped(text):
    html = tables.table(pd.DataFrame({text: [text, "b"]}))
    (fragment,) = parts(html)
    tags = Tags(fragment)
    assert tags.open == []
    assert tags.seen <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert plain(fragment).count(" ".join(text.split())) == 2
    (fragment,) = parts(tables.facts({text: text}))
    assert Tags(fragment).seen <= {"div", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.12345, "0.123"),
        (-0.5, "−0.500"),
        (-0.00001, "−1e−05"),
        (0.0, "0"),
        (math.nan, "–"),
        (12345, "12,345"),
        (True, "yes"),
        (None, "–"),
        ("-1", "-1"),
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
    for key in ("task", "rated", "raters", "licence", "access", "url", "commit"):
        if value := card.facts.get(key):
            assert " ".join(f"{key} {value}".split()) in plain(text)
    assert f"sentences may be shown {'yes' if card.facts.get('examples') else 'no'}" in plain(text)
    assert (f"`tstmeta data fetch {name}`" in text) == (name not in OWN)


@needs("lai", "alva")
def test_where_the_files_are_a_card_counts_what_is_loaded():
    counts = [
        pages.data_card(name)["counts"].set_index(["part", "what"])["value"]
        for name in ("lai", "alva")
    ]
    assert counts[0]["counts", "items"] == "720"
    assert counts[0]["content", "raters"] == "2"
    assert counts[1]["content", "raters"] == "31"


# ---------------------------------------------------------------------------------- metric cards


def test_a_metric_without_a_card_has_an_empty_one():
    assert metric_cards.card("none") == Card("none", "none")


@pytest.mark.parametrize("name", CARDS)
def test_every_card_is_whole_and_names_variants_that_there_are(name):
    card = metric_cards.card(name)
    assert card.facts["measures"].endswith(".")
    assert card.facts["fails"].endswith(".")
    assert len(card.body.split()) >= 20
    assert not re.search(r"\d", card.facts["cost"]), "numbers come from benchmarks, not from prose"
    files = re.compile(r"\.(csv|json|txt|conllu|udpipe|amr)$")
    for variant in set(re.findall(r"`([\w-]+:[\w+.-]+)`", card.body)):
        if variant.partition(":")[0] in names() and not files.search(variant):
            assert get(variant).name == variant


def test_the_catalogue_links_a_card_for_every_metric_once(without):
    rows = re.findall(
        r"^\| \[`([\w-]+)`\]\(metrics/([\w-]+)\.md\) \|", page(without, "metrics.md"), re.M
    )
    assert sorted(name for name, _ in rows) == CARDS
    assert all(name == link for name, link in rows)


@pytest.fixture(scope="module")
def overview(without):
    """The catalogue on a machine without raw data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTMETA_DATA", str(without / "none"))
        patch.setattr(paths, "external", lambda: without / "external")
        return catalogue.overview()


def test_every_variant_is_on_its_page_with_its_signature_or_what_it_needs(without, overview):
    for row in overview.to_dict("records"):
        text = plain(page(without, f"metrics/{row['name'].partition(':')[0]}.md"))
        facts = " ".join((row["signature"] or row["remedy"]).split())
        absent = row["family"] == "graph" or "not on this machine" in text
        assert facts in text or absent, row["name"]


def test_a_page_says_what_the_registry_says_and_the_example_is_computed(without):
    text = page(without, "metrics/bleu.md")
    assert text.startswith("# BLEU of one sentence\n")
    assert "compared with source, reference" in plain(text)
    assert "unit item" in plain(text)
    assert "printed as pauli2025: BLEU; lai2023: BLEU; mukherjee2025: BLEU" in plain(text)
    whole = metric_cards.example().items
    assert (len(whole), set(whole["source_id"])) == (4, {metric_cards.EXAMPLE})
    for row in whole.to_dict("records"):
        ((score,),) = get("bleu").score([(Request(row["output"], (row["source"],)),)])
        assert f">{score.value:.3f}<" in text


def test_what_does_not_run_says_so_first_and_the_catalogue_counts_it(without, overview):
    for row in overview[~overview["name"].str.contains(":")].to_dict("records"):
        first = page(without, f"metrics/{row['name']}.md").split("\n\n")[1]
        absent = first.startswith(f"**`{row['name']}` does not run here as it stands.** ")
        assert absent == (row["status"] != "ok"), row["name"]
    runs = set(overview.loc[overview["status"] == "ok", "name"]) - set(catalogue.COMBINED)
    words = f"{len(runs)} of {len(overview)} names run here as they stand, "
    assert f"{words}{len(catalogue.COMBINED)} are" in page(without, "metrics.md")
    assert "ted" not in runs


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("judge", "was not run for this page"),
        ("gm", "cannot be shown on its own"),
        ("likelihood-style", "A demonstration, not a reproduction"),
    ],
)
def test_a_page_says_why_an_example_is_missing_or_little_worth(without, name, words):
    assert words in page(without, f"metrics/{name}.md")


class Odd(PairMetric):
    """Says something else of every output."""

    name = "odd"
    answers = (
        *(Score(1.5), Score(math.nan, Status.INVALID, "no\nmodel")),
        *(Score(-0.25, Status.TRUNCATED, "cut"), Score(math.nan, Status.REFUSED, "no")),
    )

    def score(self, units):
        for unit, answer in zip(units, itertools.cycle(self.answers), strict=False):
            yield (answer,) * len(unit)


def test_a_score_without_a_value_is_shown_as_its_status(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "scores", lambda: tmp_path)
    assert metric_cards.values([Odd()]).iloc[0].tolist() == [
        *("odd", "source", "1.500", "invalid: no model", "−0.250", "refused: no")
    ]


# ---------------------------------------------------------------- the embedded model, benchmarks


def test_the_facts_of_the_embedded_model_are_those_of_its_files(without):
    report = json.loads((EMBEDDED / "training.json").read_text())
    size = (EMBEDDED / "model.safetensors").stat().st_size
    text = plain(page(without, "backbone.md"))
    assert f"parameters {report['parameters']:,} " in text
    assert f"training steps {report['steps']:,} " in text
    assert f"file {size / 1e6:.1f} MB in safetensors, float16 " in text
    assert f"Over {len(report['loss_curve'])} steps the loss fell from" in text
    assert "A demonstration, not a reproduction" in text
    for losses in report["losses_by_task"].values():
        assert all(f" {loss:.3f} " in text for loss in losses.values())
    for metric in report["shares"].values():
        shares = (share for own in metric.values() for share in own.values())
        assert all(f" {share:.3f} " in text for share in shares)


def test_every_committed_result_is_on_a_page_with_its_checks(without):
    results = sorted((paths.home() / "benchmarks" / "results").glob("*.json"))
    names = ("speed", "certainty", "trained", "reliability")
    shown = unescape("".join(page(without, f"{name}.md") for name in names))
    for path in results:
        report = json.loads(path.read_text())
        assert report["when"] in shown
        assert all(check["name"] in shown for check in report["checks"])
        assert all(note in shown for note in report["notes"])


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


# -------------------------------------------------------------------- sentences not to be shown

FOREIGN = [name for name in data.names() if not Card.read(name).facts.get("examples")]


def bare(text: str) -> str:
    """Words without case and punctuation, one space between them and at both ends."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', unescape(text).lower()))} "


@cache
def foreign_sentences() -> dict[str, set[str]]:
    """First six words -> sentences, of every third-party sentence of six words or more here.

    Sentences that a data set which may be shown has as well do not count, by themselves or within a
    longer text: strangers thank each other in the same words.
    """
    texts = {text for name in (*OWN, "pauli") for text in sentences(name)}
    shared = {bare(part) for text in texts for part in (text, *re.split("[.!?]", text))}
    known: dict[str, set[str]] = {}
    for name in FOREIGN:
        for text in sentences(name):
            words = bare(text)
            if len(words.split()) >= 6 and words not in shared:
                known.setdefault(" ".join(words.split()[:6]), set()).add(words)
    return known


def sentences(name: str) -> set[str]:
    if not data.has_texts(name):
        return set()
    try:
        items = data.load(name).items
    except TstmetaError:  # a corpus: a sample of it
        module = __import__(f"tstmeta.data.{name}", fromlist=["corpus"])
        return set(module.corpus(data.root(name))["text"].iloc[::7])
    references = {text for texts in items["references"] for text in texts}
    every = {*items["source"], *items["output"], *references}
    return {text for text in every if isinstance(text, str)}  # a text may not be here


def shown(text: str) -> int:
    """How many third-party sentences are in a text; not which."""
    words = bare(text)
    split = words.split()
    runs = {" ".join(split[i : i + 6]) for i in range(len(split) - 5)}
    known = foreign_sentences()
    return sum(any(text in words for text in known[run]) for run in runs & known.keys())


@needs("lai", "mir", "alva", "lens", "li2018", "dualrl", "mukherjee", "paradetox", "yelp")
def test_the_search_knows_sentences_and_sees_them():
    assert len(foreign_sentences()) > 20_000
    for name in ("lai", "mir", "alva", "li2018"):
        some = sorted(text for text in sentences(name) if len(text.split()) >= 8)[0]
        count = shown(f"<td>{some.upper()}!</td>")
        assert count == 1, name
    assert shown("the quick brown fox jumps over the lazy dog") == 0


@needs("lai", "mir", "alva")
@pytest.mark.parametrize("place", ["book/_generated", "book/results", "book/_build/html"])
def test_no_page_of_the_book_shows_a_sentence_that_may_not_be_shown(place):
    files = written.built(place)
    if not files:
        pytest.skip(f"{place} is not built")
    leaks = {
        path.name: count
        for path in files
        if path.suffix in (".html", ".ipynb", ".md", ".txt")
        and (count := shown(re.sub(r"<[^>]+>", " ", written.text_of(path))))
    }
    assert leaks == {}


@needs("lai", "mir", "alva")
def test_no_file_of_the_repository_holds_a_sentence_of_others():
    leaks = {}
    for path in written.tracked():
        if path.suffix in (".py", ".md", ".csv", ".ipynb", ".yml", ".xml", ".toml", ".json", ".j2"):
            text = written.text_of(path).replace("\\n", " ")
            if count := shown(text):
                leaks[path.relative_to(written.ROOT).as_posix()] = count
    assert leaks == {}
