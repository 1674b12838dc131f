"""Strips say in colour, letter, depth and words what the numbers say, and escape every text."""

import itertools
import math
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from tests.likelihood import small
from tstmeta.data import load
from tstmeta.likelihood.explain import Explanation, Token
from tstmeta.likelihood.scorer import Rewrite
from tstmeta.report import strips
from tstmeta.report.bench import Bench
from tstmeta.schema import Status, TstmetaError

VOID = {"br", "wbr", "meta", "hr", "img"}


def made(output: str, logs: list[float] | None = None, **changes) -> Explanation:
    """An explanation with a token a word; by default a third for style, a tenth for the others."""
    found = list(re.finditer(r"\s*\S+", output))
    logs = logs or [math.log(1 / 3)] * len(found)
    tokens = tuple(
        Token(place, m[0], *m.span(), (log, log - math.log(3.3), log - math.log(3.3)))
        for place, (m, log) in enumerate(zip(found, logs, strict=True))
    )
    given = {
        "rewrite": Rewrite("a source", output, "formal"),
        "wording": "formal",
        "asked": ("", "", ""),
        "tokens": tokens,
        "end_of_turn": None,
        "content": sum(logs) / len(logs) if logs else math.nan,
        "style": 0.1,
        "status": Status.OK,
        "detail": "",
        "model": "tiny@1 float32",
        "instructions": "paper",
        "variant": "equation",
        "signature": "likelihood|model:tiny@1",
    }
    return Explanation(**{**given, **changes})


class Outline(HTMLParser):
    """Checks that tags nest and collects (tag, attributes, text)."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list = []
        self.seen: list = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        entry = [tag, dict(attrs), ""]
        self.seen.append(entry)
        if tag not in VOID:
            self.open.append(entry)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for entry in self.open:
            entry[2] += data

    def of(self, name: str) -> list:
        """Elements that have a class."""
        return [entry for entry in self.seen if name in (entry[1].get("class") or "").split()]


def tokens(text: str) -> list:
    """The tokens of the strips, those of the key left out."""
    return [entry for entry in Outline(text).of("t") if "title" in entry[1]]


# ------------------------------------------------------------------------------------- one strip


def test_each_token_has_its_colour_letter_depth_and_numbers():
    logs = [math.log(p) for p in (0.9, 0.4, 0.05, 0.004, 0.00002)]
    found = tokens(strips.strip(made("one two three four five", logs)).text)
    assert [entry[1]["class"] for entry in found] == ["t u0", "t u1", "t u2", "t u3", "t u4"]
    assert [entry[2] for entry in found] == ["ones", "twos", "threes", "fours", "fives"]
    assert "style 0.050, paraphrase 0.015, repeat 0.015; log −3.00" in found[2][1]["title"]
    assert "style 0.000020" in found[4][1]["title"]


@pytest.mark.parametrize(
    ("p", "step"),
    [(1, 0), (0.5, 0), (0.49, 1), (0.1, 1), (0.09, 2), (0.01, 2), (0.009, 3), (0.0009, 4), (0, 4)],
)
def test_a_step_is_less_foreseen_than_the_one_before(p, step):
    assert strips.step(math.log(p) if p else -math.inf) == step


def test_bars_hang_by_the_logarithm_and_are_cut():
    text = strips.strip(made("a b c", [-0.5, -3.25, -math.inf])).text
    assert re.findall(r"--d:([\d.]+)", text) == ["0.50", "3.25", "8.00"]


def test_a_letter_stands_out_only_where_its_instruction_is_clearly_ahead():
    clear = made("a b")
    close = Token(0, "a", 0, 1, (-1.0, -1.1, -1.2))
    text = strips.strip(made("a b", tokens=(close, clear.tokens[1]))).text
    assert re.findall(r"<small( class=sure)?>(\w)", text) == [("", "s"), (" class=sure", "s")]


def test_what_does_not_count_and_what_was_cut_is_told_apart():
    first, second = made("a b").tokens
    end = Token(9, "", 3, 3, (-0.1, -0.2, -0.3))
    one = made("a b c d", tokens=(first._replace(counts=False), second), end_of_turn=end)
    outline = Outline(strips.strip(one).text)
    assert [entry[2] for entry in outline.of("off")] == ["a–", " c d"]
    assert "end of turns" in [entry[2] for entry in outline.of("t")]
    assert "means over 2 tokens" in outline.of("tst-sums")[0][2]


def test_a_reader_who_hears_the_page_gets_text_sums_and_table():
    one = made("the small cat", [-0.1, -7.0, -0.2])
    outline = Outline(strips.strip(one, title="item").text)
    (said,) = outline.of("tst-said")
    assert said[1]["role"] == "img"
    assert said[1]["aria-label"] == (
        "the small cat — C = −2.433, S = 0.100: means over 3 tokens. Least foreseen: small, "
        "p 0.000912."
    )
    cells = [entry[2] for entry in outline.seen if entry[0] == "td"]
    assert len(cells) == 4 * 7
    assert cells[-7:] == ["mean", "–", "–", "–", "", "−2.433", "0.100"]
    assert "style" in cells


def test_nothing_of_a_text_is_taken_for_html():
    evil = "<img src=x onerror=alert(1)> \"'><script>alert(2)</script> \u202eabc &amp;"
    one = made(
        evil,
        rewrite=Rewrite(evil, evil, evil),
        wording=evil + "!",
        model=evil,
        signature=evil,
        detail=evil,
        name=evil,
    )
    for text in (
        strips.strip(one, title=evil).text,
        strips.pair(one, one, (evil, evil)).text,
        strips.page([one]),
    ):
        outline = Outline(text)
        assert not {"img", "script"} & {entry[0] for entry in outline.seen}
        assert not [key for entry in outline.seen for key in entry[1] if key.startswith("on")]
        assert "\u202e" not in text
        assert "".join(entry[2] for entry in outline.of("tst-given")).count("<script>") >= 2


@pytest.mark.parametrize("status", [Status.INVALID, Status.EMPTY])
def test_a_rewrite_without_tokens_is_said_to_have_none(status):
    nothing = math.nan if status is Status.INVALID else -8.0
    one = made("", tokens=(), content=nothing, status=status, detail="why not")
    text = Outline(strips.strip(one).text).of("tst-sums")[0][2]
    expected = {
        Status.INVALID: "No value (invalid): why not.",
        Status.EMPTY: "C = −8.000: no token",
    }
    assert text.startswith(expected[status])


def test_the_demonstration_model_is_called_one():
    assert "is a demonstration" in strips.strip(made("a", demonstration=True)).text
    assert "is a demonstration" not in strips.strip(made("a")).text
    assert "tiny@1" in re.sub("<wbr>", "", strips.strip(made("a")).text)


@pytest.mark.parametrize(
    ("p", "text"),
    [(1.0, "1.000"), (0.5004, "0.500"), (0.001, "0.001"), (0.00004, "0.000040"), (0, "<0.000001")],
)
def test_probabilities_are_written_without_powers(p, text):
    assert strips.probability(p) == text


# ------------------------------------------------------------------------------------- two, four


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("to Milford a joy.", "to Dunmore a joy.", ("Milford", "Dunmore")),
        ("I rang Monday.", "I rang Monday about a leak.", ("", "about a leak")),
        ("Lessons, on Thursdays, cost.", "Lessons cost.", ("on Thursdays", "")),
        ("same", "same", ("", "")),
        ("a b", "c d e", ("a b", "c d e")),
        ("the the cat", "the cat", ("the", "")),
        ("", "new", ("", "new")),
    ],
)
def test_what_differs_is_between_the_words_that_both_share(first, second, words):
    ranges = strips.changed(first, second)
    found = [text[slice(*where)] for text, where in zip((first, second), ranges, strict=True)]
    assert tuple(found) == words


def test_the_words_that_differ_are_outlined_and_their_cost_is_said():
    kept = made("train to Milford today", [-0.1, -0.1, -0.2, -0.2])
    wrong = made("train to Dunmore today", [-0.1, -0.1, -6.0, -0.2])
    outline = Outline(strips.pair(kept, wrong, ("kept", "wrong")).text)
    assert [entry[2] for entry in outline.of("m")] == ["Milfords", "Dunmores"]
    sums = [entry[2] for entry in outline.of("tst-sums")]
    assert "outlined words make −0.050" in sums[0]
    assert "outlined words make −1.500" in sums[1]
    assert [entry[2] for entry in outline.of("tst-title")] == ["kept", "wrong"]
    assert len(outline.of("tst-key")) == 1


def test_the_cost_of_all_words_is_the_content():
    one = made("a bb ccc", [-1.0, -2.0, -6.0])
    assert strips.cost(one, strips.Range(0, 99)) == pytest.approx(one.content)
    assert strips.cost(one, strips.Range(0, 0)) == 0
    assert strips.cost(one, strips.Range(2, 3)) == pytest.approx(-2 / 3)


def test_a_quartet_shows_both_shifts_without_and_with_the_error():
    cells = {name: made(f"a {name}") for name in ("light", "light-error", "strong", "strong-error")}
    outline = Outline(strips.quartet(cells, {"strong-error": "insertion"}).text)
    assert [entry[2] for entry in outline.of("tst-title")] == [
        "strong shift, content kept",
        "strong shift, one insertion",
        "light shift, content kept",
        "light shift, one content error",
    ]


def test_contrast_strips_are_scored_once_and_kept(tmp_path):
    folder = small.saved(tmp_path / "model")
    store = tmp_path / "store"
    text = strips.contrast_strips(Bench(store), ["formal-01", "polite-02"], str(folder)).text
    outline = Outline(text)
    assert len(outline.of("tst-said")) == 8
    assert len(outline.of("tst-key")) == 1
    spans = load("contrast").label("span")
    kind = load("contrast").label("error")["formal-01-strong-error"]
    assert f"strong shift, one {kind}" in [entry[2] for entry in outline.of("tst-title")]
    assert spans["formal-01-strong-error"]
    assert outline.of("m")
    (kept,) = (store / "tokens").glob("*.parquet")
    before = kept.stat().st_mtime_ns
    again = strips.contrast_strips(load("contrast"), ["formal-01", "polite-02"], str(folder), store)
    assert again.text == text
    assert kept.stat().st_mtime_ns == before


def test_an_unknown_source_is_told(tmp_path):
    with pytest.raises(TstmetaError, match="no source 'formal-99'"):
        strips.contrast_strips(load("contrast"), ["formal-99"], store=tmp_path)


# ------------------------------------------------------------------------------------------- looks


def test_a_page_fetches_nothing_and_runs_nothing():
    text = strips.page([made("a b", name="x"), made("c", name="y")])
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|url\(|@import|<script|<link", text)
    outline = Outline(text)
    assert [entry[2] for entry in outline.of("tst-title")] == ["x", "y"]
    assert len(outline.of("tst-key")) == 1


def themes() -> dict[str, dict[str, str]]:
    """The colours of each theme as the sheet has them."""
    sheet = files("tstmeta.report").joinpath("strips.css").read_text()
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    blocks = {}
    for selector, body in re.findall(r"([^{}]*\.tst-strip)\s*\{([^{}]*--tst-u1[^{}]*)\}", sheet):
        name = "page" if "tst-page" in selector else "dark" if "dark" in selector else "light"
        blocks[name] = dict(re.findall(r"(--tst-[\w-]+):\s*(#\w{6})", body))
    return blocks


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark", "page"])
def test_letters_can_be_read_and_steps_are_in_order_without_colour(theme):
    colours = themes()[theme]
    paper = "#ffffff" if theme == "light" else "#121212"
    steps = [paper, *(colours[f"--tst-u{step}"] for step in (1, 2, 3, 4))]
    for step in (1, 2, 3, 4):
        assert contrast(steps[step], colours[f"--tst-on-u{step}"]) >= 4.5
    assert contrast(paper, colours["--tst-quiet"]) >= 4.5
    assert contrast(paper, colours["--tst-edge"]) >= 3
    assert contrast(paper, colours["--tst-bar"]) >= 3
    light = [luminance(colour) for colour in steps]
    assert light == sorted(light, reverse=theme == "light")
    assert all(contrast(a, b) > 1.1 for a, b in itertools.pairwise(steps))


def test_both_ways_to_a_dark_page_have_the_same_colours():
    found = themes()
    assert found["dark"] == found["page"]
    assert found["dark"].keys() == found["light"].keys()
