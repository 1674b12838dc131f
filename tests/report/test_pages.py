"""The pages written from data: all there, whole, without a sentence that may not be shown."""

import os
import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest
import yaml

from tests import written
from tests.helpers import needs
from tests.report.test_html import Page
from tests.report.test_ledger import with_data
from tstmeta import data, metrics
from tstmeta.data import Card, paths
from tstmeta.report import metric_cards, pages
from tstmeta.report.bench import Bench
from tstmeta.report.ledger import PAPERS
from tstmeta.report.published import cells
from tstmeta.schema import TstmetaError

PAGES = {
    *("data.md", "metrics.md", "speed.md", "certainty.md", "claims.md", "ledger.md"),
    *("backbone.md", "metric_cards.md", "trained.md"),
    *(f"metrics/{name}.md" for name in metric_cards.names()),
    *(f"cards/{name}.md" for name in data.names()),
    *(f"ledger/{paper}.md" for paper in PAPERS),
}

#: What comes with the project.
OWN = {"contrast", "world"}


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The pages of a machine without raw data."""
    folder = tmp_path_factory.mktemp("without")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TSTMETA_DATA", str(folder / "none"))
        patch.setattr(paths, "external", lambda: folder / "external")
        patch.setattr(paths, "scores", lambda: folder / "scores")
        pages.write(folder / "pages")
    return folder / "pages"


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The pages of this machine, with whatever data it has."""
    folder = tmp_path_factory.mktemp("here")
    rows = with_data().reset_index()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "ledger", lambda bench: rows)
        pages.write(folder)
    return folder


@pytest.fixture(params=["without", "here"])
def folder(request):
    return request.getfixturevalue(request.param)


def page(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def raw_parts(text: str) -> list[str]:
    """The HTML in a page's raw directives."""
    return re.findall(r"^```\{raw\} html\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)


# -------------------------------------------------------------------------------- all are there


def test_every_page_is_written(folder):
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == PAGES


def test_the_contents_of_the_book_list_every_page_that_is_written():
    contents = yaml.safe_load((written.ROOT / "_toc.yml").read_text())
    listed = re.findall(r"book/_generated/([\w*/-]+)", str(contents))
    assert {name for name in PAGES if "/" not in name} == {
        f"{one}.md" for one in listed if "*" not in one
    }
    assert {name.partition("/")[0] for name in PAGES if "/" in name} == {
        one.partition("/")[0] for one in listed if "*" in one
    }


def test_every_page_has_one_title_and_its_html_is_whole(folder):
    for name in PAGES:
        text = page(folder, name)
        assert text.startswith("# "), name
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, name
        assert text.count("```") % 2 == 0, name
        for fragment in raw_parts(text):
            assert Page(fragment).open == [], name


def test_every_citation_is_in_the_bibliography(folder):
    known = set(re.findall(r"^@\w+\{([^,]+),", page(written.ROOT / "book", "references.bib"), re.M))
    for name in PAGES:
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", page(folder, name)):
            assert {key.strip() for key in keys.split(",")} <= known, name


def test_links_between_pages_lead_somewhere(folder):
    book = written.ROOT / "book"
    for name in PAGES:
        for link in re.findall(r"\]\(([^)#\s]+\.md)", page(folder, name)):
            inside = ((folder / name).parent / link).is_file()
            # the folder of generated pages need not be there yet
            beside = Path(os.path.normpath(book / "_generated" / name)).parent / link
            assert inside or Path(os.path.normpath(beside)).is_file(), (name, link)


def test_pages_are_the_same_each_time(without, tmp_path, monkeypatch):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    pages.write(tmp_path / "again")
    for name in PAGES:
        assert page(tmp_path / "again", name) == page(without, name), name


# ------------------------------------------------------------------------------------- the cards


def test_the_index_links_every_data_set_and_says_whether_it_is_here(without, here):
    for folder, is_here in ((without, lambda name: name in OWN), (here, data.available)):
        rows = re.findall(
            r"^\| \[(\w+)\]\(cards/\w+\.md\) \|.*\| (\w+) \|$", page(folder, "data.md"), re.M
        )
        assert rows == [(name, "yes" if is_here(name) else "no") for name in data.names()]


@pytest.mark.parametrize("name", data.names())
def test_a_card_has_its_facts_and_prose(without, name):
    text, card = page(without, f"cards/{name}.md"), Card.read(name)
    assert text.startswith(f"# {card.title}\n")
    assert card.body in text
    flat = unescape(" ".join(part for raw in raw_parts(text) for part in Page(raw).text))
    for key in ("task", "rated", "raters", "licence", "access", "url", "commit"):
        if value := card.facts.get(key):
            assert f"{key} {value}" in flat
    assert f"sentences may be shown {'yes' if card.may_show_examples else 'no'}" in flat
    if name not in OWN:
        assert f"`tstmeta data fetch {name}`" in text


def test_a_loader_that_was_never_run_on_real_files_says_so(without):
    for name in data.names():
        said = "was never run on the real files" in page(without, f"cards/{name}.md")
        assert said == (Card.read(name).facts.get("verified", True) is False), name


@needs("pauli", "lai")
def test_where_the_files_are_a_card_counts_what_is_loaded(here):
    def flat(name):
        return " ".join(
            " ".join(Page(raw).text) for raw in raw_parts(page(here, f"cards/{name}.md"))
        )

    assert "items 500 sources" in flat("pauli")
    assert "single ratings" in flat("pauli")
    assert "lai@pauli2025 640 items" in flat("lai")
    assert "contrast@tied 480 items" in flat("contrast")


def test_a_card_with_a_broken_file_still_becomes_a_page(monkeypatch, tmp_path):
    def broken(name):
        raise TstmetaError("row 3 is wrong")

    bench = Bench(tmp_path)
    monkeypatch.setattr(bench, "has", lambda name: True)
    monkeypatch.setattr(bench, "dataset", broken)
    assert pages.card_page("pauli", bench).endswith("row 3 is wrong\n\n")


# ---------------------------------------------------------------------------- metrics and ledger


def test_every_metric_is_listed_with_its_signature_or_what_it_needs(without, monkeypatch):
    monkeypatch.setenv("TSTMETA_DATA", str(without / "none"))
    monkeypatch.setattr(paths, "external", lambda: without / "external")
    text = page(without, "metrics.md")
    flat = Page(raw_parts(text)[0]).text
    for name in metrics.names():
        assert name in flat
        metric = metrics.get(name)
        said = getattr(metric, "missing", "") or str(metric.signature(metric.bases[0]))
        assert said in "".join(flat)


def test_every_cell_of_the_ledger_is_on_its_page(folder):
    for paper in PAPERS:
        text = page(folder, f"ledger/{paper}.md").replace("<wbr>", "")
        for one in cells():
            if one.paper == paper:
                short = one.cell.split(".", 2)[2]
                assert f">{one.cell}<" in text or f">{short}<" in text, one.cell
        tables = dict.fromkeys(one.table for one in cells() if one.paper == paper)
        heads = re.findall(r"^## (?:Table|Figure) (\w+)$", text, re.M)
        assert heads == [table.removeprefix("fig") for table in tables]


def test_the_first_page_of_the_ledger_counts_all_cells(folder):
    text = page(folder, "ledger.md")
    assert "The four papers print 2,100 numbers" in text
    assert "all" in Page(raw_parts(text)[0]).text


def test_our_value_stands_beside_the_printed_one_with_status_and_signature():
    row = pages._ledger_row("key", "-0.17*", "−0.1728", "500", "match", "a <b>", 's|"x"')
    assert row == (
        "<tr><td>key</td><td class=num>−0.17*</td>"
        "<td class=num title='s|&quot;x&quot;'>−0.1728</td><td class=num>500</td>"
        "<td class='tst-match'>✓ match</td><td>a &lt;b&gt;</td></tr>"
    )


# -------------------------------------------------------------------- sentences not to be shown

FOREIGN = [name for name in data.names() if not Card.read(name).may_show_examples]


def plain(text: str) -> str:
    """Words without case and punctuation, one space between them and at both ends."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', unescape(text).lower()))} "


@cache
def foreign_sentences() -> dict[str, set[str]]:
    """First six words -> sentences, of every third-party sentence of six words or more here.

    Sentences that a data set which may be shown has as well do not count, by themselves or within a
    longer text: strangers thank each other in the same words.
    """
    texts = {text for name in (*OWN, "pauli") for text in sentences(name)}
    shared = {plain(one) for text in texts for one in (text, *re.split("[.!?]", text))}
    found: dict[str, set[str]] = {}
    for name in FOREIGN:
        for text in sentences(name):
            words = plain(text)
            if len(words.split()) >= 6 and words not in shared:
                found.setdefault(" ".join(words.split()[:6]), set()).add(words)
    return found


def sentences(name: str) -> set[str]:
    if not data.available(name):
        return set()
    try:
        items = data.load(name).items
    except TstmetaError:  # a corpus: a sample of it
        module = __import__(f"tstmeta.data.{name}", fromlist=["corpus"])
        return set(module.corpus(data.root(name))["text"].iloc[::7])
    references = {text for texts in items["references"] for text in texts}
    return {*items["source"], *items["output"], *references}


def shown(text: str) -> int:
    """How many third-party sentences are in a text; not which."""
    words = plain(text)
    parts = words.split()
    runs = {" ".join(parts[i : i + 6]) for i in range(len(parts) - 5)}
    known = foreign_sentences()
    return sum(any(one in words for one in known[run]) for run in runs & known.keys())


@needs("lai", "mir", "alva", "lens", "li2018", "dualrl", "mukherjee", "paradetox", "yelp")
def test_the_search_knows_sentences_and_finds_them():
    found = foreign_sentences()
    assert len(found) > 20_000
    for name in ("lai", "mir", "alva", "li2018"):
        some = sorted(text for text in sentences(name) if len(text.split()) >= 8)[0]
        here = shown(f"<td>{some.upper()}!</td>")
        assert here == 1, name
    assert shown("the quick brown fox jumps over the lazy dog") == 0


@needs("lai", "mir", "alva")
def test_no_generated_page_shows_a_sentence_that_may_not_be_shown(here):
    found = {name: count for name in PAGES if (count := shown(page(here, name)))}
    assert found == {}


@needs("lai", "mir", "alva")
@pytest.mark.parametrize("folder", ["book/results", "book/_build/html"])
def test_no_page_of_the_book_shows_a_sentence_that_may_not_be_shown(folder):
    files = written.built(folder)
    if not files:
        pytest.skip(f"{folder} is not built")
    found = {
        path.name: count
        for path in files
        if path.suffix in (".html", ".ipynb", ".md", ".txt")
        and (count := shown(re.sub(r"<[^>]+>", " ", written.text_of(path))))
    }
    assert found == {}


@needs("lai", "mir", "alva")
def test_no_file_of_the_repository_holds_a_sentence_of_others():
    found = {}
    for path in written.tracked():
        if path.suffix in (".py", ".md", ".csv", ".ipynb", ".yml", ".xml", ".toml", ".json"):
            text = written.text_of(path).replace("\\n", " ")
            if count := shown(text):
                found[path.relative_to(written.ROOT).as_posix()] = count
    assert found == {}
