"""Masked metrics: which words are hidden, what is compared then, and what is refused."""

import csv
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import needs
from tests.metrics import metric, texts
from tstmeta import data, metrics
from tstmeta.metrics import Request
from tstmeta.metrics.masked import OURS, Mask, MaskedBleu, ours
from tstmeta.models.lexicon import Entry, Lexicon
from tstmeta.schema import DataError, Status, TstmetaError

HEADER = "word,style,weight\n"


def lexicon(*words):
    return Lexicon("words", tuple(Entry(word, "s", 1.0) for word in words))


def scored(scorer, output, *against, style="", language="en"):
    request = Request(output, against, against[0], style, language)
    [[found]] = list(scorer.score([(request,)]))
    return found


def bleu(output, *against):
    return scored(metric("bleu"), output, *against).value


# ------------------------------------------------------------------------------------- masking

MASKED = [
    (["bad"], "A bad, BAD day.", "A ■ , ■ day.", 2, 4),
    (["bad"], "badly made", "badly made", 0, 2),
    (["don't"], "I don’t and DON'T and don t", "I ■ and ■ and don t", 2, 7),
    (["do", "t"], "I don't", "I don't", 0, 2),
    (["very bad", "bad", "very"], "very bad very good bad", "■ ■ good ■", 4, 5),
    (["a b c", "a b"], "a b d a b c", "■ d ■", 5, 6),
    (["a b c"], "a b d", "a b d", 0, 3),
    (["so kind"], "So,  kind sir", "■ sir", 2, 3),
    (["well-made"], "a well made, well-made x", "a ■ , ■ x", 4, 6),
    (["Café"], "cafe\u0301 café cafe", "■ ■ cafe", 2, 3),
    (["bad"], "", "", 0, 0),
    (["bad"], " 😀  ... ", " 😀  ... ", 0, 0),
    (["bad"], "bad", "■", 1, 1),
    (["बुरा", "क़लम"], "यह बुरा क\u093cलम है।", "यह ■ ■ है।", 2, 4),
    (["খারাপ"], "খুব খারাপ।", "খুব ■ ।", 1, 2),
]


@pytest.mark.parametrize(("words", "text", "expected", "hidden", "count"), MASKED)
def test_style_words_are_hidden_whole_and_longest_first(words, text, expected, hidden, count):
    assert Mask(lexicon(*words), "■")(text) == (expected, hidden, count)


@pytest.mark.parametrize(("words", "text", "expected", "hidden", "count"), MASKED)
def test_dropped_words_leave_single_spaces(words, text, expected, hidden, count):
    found = Mask(lexicon(*words), "")(text)
    left = " ".join(expected.replace("■", "").split()) if hidden else text
    assert found == (left, hidden, count)


@given(texts)
def test_a_text_without_style_words_stays_as_it_is(text):
    assert Mask(lexicon("zzzzz zzz"), "■")(text).text == text


@given(texts, st.booleans())
def test_nothing_is_left_to_hide_in_a_masked_text(text, drop):
    mask = Mask(lexicon("the", "cat", "a", "don't", "नमस्ते", "été"), "" if drop else "■")
    assert mask(mask(text).text).hidden == 0


def test_ten_thousand_words_take_less_than_a_second():
    words = [f"w{number % 3000}" for number in range(10_000)]
    entries = [" ".join(words[start : start + 3]) for start in range(0, 3000, 7)]
    start = time.process_time()
    found = Mask(lexicon(*entries), "■")(" ".join(words))
    assert time.process_time() - start < 1
    assert found.words == 10_000
    assert found.hidden >= 3 * 3 * len(entries[:-1])


def test_a_lexicon_of_marks_only_is_refused():
    with pytest.raises(TstmetaError, match="words has no word with a letter or a digit"):
        Mask(lexicon("!", "..."), "■")


# --------------------------------------------------------------------------------- masked BLEU


def test_masked_bleu_is_bleu_of_the_masked_texts():
    scorer = MaskedBleu(lexicon=lexicon("bad", "good", "awful food"))
    found = scored(scorer, "The good food was good, they said", "The awful food was bad, they said")
    expected = bleu("The ■ food was ■ , they said", "The ■ was ■ , they said")
    assert found.value == expected > bleu("The good food was good", "The awful food was bad")
    assert found.status is Status.OK
    assert found.detail == ("style words: 2 of 7 in the output, 3 of 7 in what it is compared with")


def test_dropped_words_are_not_compared():
    scorer = MaskedBleu("dropped", lexicon=lexicon("bad", "really good"))
    assert scored(
        scorer, "a really good day out here", "a bad day out here"
    ).value == pytest.approx(100)
    assert str(scorer.signature("source")).startswith("masked-bleu:dropped|")


def test_references_clip_together_and_their_words_are_counted():
    scorer = MaskedBleu(lexicon=lexicon("bad"))
    found = scored(scorer, "a b bad", "a x bad", "y b")
    assert found.value == bleu("a b ■", "a x ■", "y b")
    assert found.detail.endswith("1 of 5 in what it is compared with")


def test_without_style_words_the_value_is_that_of_bleu():
    scorer = MaskedBleu(lexicon=lexicon("bad"))
    assert scored(scorer, "one two three", "one two four").value == bleu(
        "one two three", "one two four"
    )


def test_a_text_of_style_words_only_has_nothing_left_when_they_are_dropped():
    scorer = MaskedBleu("dropped", lexicon=lexicon("bad"))
    found = scored(scorer, "bad", "bad day")
    assert (found.value, found.status) == (0, Status.EMPTY)
    assert found.detail.startswith("nothing is left; style words: 1 of 1 in the output")


def test_blank_texts_and_texts_without_a_list_do_not_shift_the_others():
    scorer = metrics.get("masked-bleu")
    rows = [("a fine day", "polite"), (" ", "polite"), ("a fine day", "odd"), ("x", "polite")]
    units = [(Request(text, ("a fine day",), "a fine day", style),) for text, style in rows]
    found = [one for (one,) in scorer.score(units)]
    assert [one.status for one in found] == ["ok", "empty", "refused", "ok"]
    assert (found[0].value, found[3].value) == pytest.approx((100, 0))


# -------------------------------------------------------------------------- which words are hidden


@pytest.mark.parametrize("style", sorted(OURS))
def test_each_style_hides_its_own_words_and_those_of_the_other_side(style):
    words = [entry.word for entry in ours(OURS[style]).entries][::10]
    found = scored(metric("masked-bleu"), " xyz ".join(words), "xyz", style=style)
    count = found.detail.split()[2]
    assert int(count) >= len(words)


def test_words_of_another_style_stay():
    found = scored(metric("masked-bleu"), "an idiotic and gorgeous kindly", "x", style="formal")
    assert found.detail.startswith("style words: 1 of 5 in the output")


@pytest.mark.parametrize(("style", "said"), [("", "without a target style"), ("old", "'old'")])
def test_a_style_without_words_is_refused_with_the_remedy(style, said):
    found = scored(metric("masked-bleu"), "a b", "a b", style=style)
    assert found.status is Status.REFUSED
    assert math.isnan(found.value)
    assert said in found.detail
    assert "masked-bleu:words.csv" in found.detail


def test_lists_of_ours_know_english_only_and_a_file_any_language(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text(f"{HEADER}बुरा,negative,1\n", encoding="utf-8")
    text = "यह बुरा दिन था।"
    refused = scored(metric("masked-bleu"), text, text, style="positive", language="hi")
    assert (refused.status, refused.detail) == (
        Status.REFUSED,
        "made for en; this text is hi",
    )
    mine = metrics.get(f"masked-bleu:{path}")
    assert mine.languages == ()
    found = scored(mine, "यह अच्छा दिन था।", text, language="hi")
    assert found.detail.endswith("1 of 4 in what it is compared with")
    assert found.status is Status.OK


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("drop", "'drop' is not understood; use dropped, sentiment or a .csv or .json file"),
        ("sentiment+x.csv", "names two lexicons"),
    ],
)
def test_a_word_that_is_not_understood_is_refused(words, said):
    with pytest.raises(TstmetaError) as caught:
        metrics.get(f"masked-bleu:{words}")
    assert said in str(caught.value)


def test_a_broken_lexicon_is_refused_when_it_is_named(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("word\n")
    with pytest.raises(DataError, match="the columns are word"):
        metrics.get(f"masked-bleu:{path}")
    with pytest.raises(DataError, match=r"none\.csv: cannot be read"):
        metrics.get("masked-bleu:none.csv")


def test_the_signature_names_the_words_how_they_are_hidden_and_all_of_bleu(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text(f"{HEADER}bad,s,1\n")
    before = str(metrics.get(f"masked-bleu:{path}").signature("source"))
    assert "|lexicon:words.csv@" in before
    assert "|mask:■|" in before
    assert "|tok:13a|" in before
    path.write_text(f"{HEADER}worse,s,1\n")
    assert str(metrics.get(f"masked-bleu:{path}").signature("source")) != before
    assert "|lexicon:ours@" in str(metric("masked-bleu").signature("source"))
    assert "|mask:dropped|" in str(metric("masked-bleu:dropped").signature("source"))


def test_a_lexicon_of_others_makes_it_no_metric_of_the_embedded_profile():
    assert metric("masked-bleu").profile == metric("masked-bleu:dropped").profile == "embedded"
    assert metric("masked-bleu:sentiment").profile == "real"
    assert "masked-bleu:sentiment" not in metrics.resolve(["masked"])


def test_a_registered_lexicon_that_is_not_here_gives_rows_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    monkeypatch.setattr("tstmeta.data.paths.home", lambda: tmp_path)
    scorer = metrics.get("masked-bleu:sentiment")
    assert "tstmeta data fetch mir" in scorer.missing
    assert "sentiment@missing" in str(scorer.signature("source"))
    found = scored(scorer, "a", "a")
    assert found.status is Status.ERROR
    assert "tstmeta data fetch mir" in found.detail


# -------------------------------------------------------------------------------- masked cosine


def needs_cosine(test):
    """Skip where the metric cosine or its model is not installed."""
    try:
        absent = metrics.get("cosine").missing
    except TstmetaError:
        absent = "there is no metric cosine"
    return pytest.mark.skipif(bool(absent), reason=absent or "here")(test)


@needs_cosine
def test_masked_cosine_is_the_cosine_of_the_masked_texts(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text(f"{HEADER}good,s,1\nawful,s,1\n")
    pairs = [("The food was good.", "The food was awful."), ("The food was cold", "No soup today")]
    for words, token in ((str(path), "[MASK]"), (f"{path}+dropped", "")):
        scorer = metrics.get(f"masked-cosine:{words}")
        for output, source in pairs:
            hide = Mask(lexicon("good", "awful"), token)
            plain = scored(metric("cosine"), hide(output).text, hide(source).text)
            found = scored(scorer, output, source)
            assert found.value == pytest.approx(plain.value, abs=1e-6)
            assert "style words: " in found.detail
        assert scored(scorer, *pairs[0]).value > scored(metric("cosine"), *pairs[0]).value


@needs_cosine
def test_other_words_go_to_cosine():
    scorer = metrics.get("masked-cosine:dropped+labse")
    assert scorer.profile == "real"
    assert scorer.missing == metrics.get("cosine:labse").missing
    assert "|mask:dropped|" in str(scorer.signature("source"))


# ------------------------------------------------------------------------------------ real data


def test_our_lists_hide_some_words_of_most_contrast_items_and_leave_most_words():
    items = data.load("contrast").items
    scorer = metric("masked-bleu")
    columns = (items[name] for name in ("output", "source", "style"))
    units = [(Request(a, (b,), b, style),) for a, b, style in zip(*columns, strict=True)]
    found = [one for (one,) in scorer.score(units)]
    assert {one.status for one in found} == {Status.OK}
    hidden = [
        (int(words[2]) + int(words[8]), int(words[4]) + int(words[10]))
        for words in (one.detail.split() for one in found)
    ]
    assert sum(some > 0 for some, _ in hidden) > 0.5 * len(hidden)
    assert sum(some for some, _ in hidden) < 0.5 * sum(words for _, words in hidden)


def test_our_lists_hold_no_word_twice():
    for task in set(OURS.values()):
        entries = ours(task).entries
        assert len({entry.word for entry in entries}) == len(entries)
        assert set(OURS) & set(ours(task).styles)


@needs("mir")
def test_the_released_lexicon_hides_words_of_the_released_rewrites():
    items = data.load("mir").items.iloc[::24]
    scorer = metrics.get("masked-bleu:sentiment")
    for output, source in zip(items["output"], items["source"], strict=True):
        found = scored(scorer, output, source)
        assert found.status in (Status.OK, Status.EMPTY)
    path = data.root("mir") / "style_lexicon" / "style_words_and_weights.json"
    other = metrics.get(f"masked-bleu:{path}")
    assert scorer.fields() == other.fields()


@needs("mukherjee")
def test_hindi_words_of_a_file_are_found_in_real_texts(tmp_path):
    items = data.load("mukherjee@sentiment-hi").items
    path = tmp_path / "words.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [("word", "style", "weight"), ("बकवास", "negative", 1), ("अच्छा", "positive", 1)]
        csv.writer(file).writerows(rows)
    scorer = metrics.get(f"masked-bleu:{path}")
    for source in items["source"]:
        count = scored(scorer, source, source, language="hi").detail.split()[2]
        assert int(count) >= sum(source.count(f" {word} ") > 0 for word, _, _ in rows[1:])
