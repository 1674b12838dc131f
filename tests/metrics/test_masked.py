"""Masked metrics: which words are hidden, what is compared then, and what is refused."""

import pytest

from tests.metrics import item, metric, scores, single
from tests.models.style import needs_encoder
from tstmeta.metrics import registry
from tstmeta.metrics.masked import Mask, MaskedBleu
from tstmeta.models.lexicon import Lexicon
from tstmeta.schema import Status


def lexicon(*words):
    return Lexicon("words", words)


def bleu(output, *against):
    return single(metric("bleu"), output, *against).value


MASKED = [
    (["bad"], "A bad, BAD day.", "A ■ , ■ day."),
    (["don't"], "I don’t and DON'T and don t", "I ■ and ■ and don t"),
    (["very bad", "bad", "very"], "very bad very good bad", "■ ■ good ■"),
    (["a b c", "a b"], "a b d a b c", "■ d ■"),
    (["well-made"], "a well made, well-made x", "a ■ , ■ x"),
    (["bad"], " 😀  ... ", " 😀  ... "),
    (["बुरा", "क़लम"], "यह बुरा क\u093cलम है।", "यह ■ ■ है।"),
]


@pytest.mark.parametrize(("words", "text", "expected"), MASKED)
def test_style_words_are_hidden_whole_and_longest_first(words, text, expected):
    assert Mask(lexicon(*words), "■")(text) == expected


def test_masked_bleu_is_bleu_of_the_masked_texts(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("word\nbad\ngood\nawful food\n")
    scorer = MaskedBleu(str(path))
    score = single(scorer, "The good food was good, they said", "The awful food was bad, they said")
    expected = bleu("The ■ food was ■ , they said", "The ■ was ■ , they said")
    assert score.value == expected > bleu("The good food was good", "The awful food was bad")
    assert score.status is Status.OK


def test_blank_texts_and_texts_without_a_list_do_not_shift_the_others():
    scorer = registry.get("masked-bleu")
    rows = [("a fine day", "polite"), (" ", "polite"), ("a fine day", "odd"), ("x", "polite")]
    result = scores(scorer, *(item(text, "a fine day", style=style) for text, style in rows))
    assert [score.status for score in result] == ["ok", "empty", "refused", "ok"]
    assert "no list of style words for the style 'odd'" in result[2].detail
    assert "masked-bleu:words.csv" in result[2].detail
    assert (result[0].value, result[3].value) == pytest.approx((100, 0))


def test_a_lexicon_of_data_that_is_not_here_gives_rows_with_the_remedy(bare):
    scorer = registry.get("masked-bleu:sentiment")
    assert "tstmeta data fetch mir" in scorer.missing
    assert "sentiment@missing" in str(scorer.signature("source"))
    result = single(scorer, "a", "a")
    assert result.status is Status.ERROR
    assert "tstmeta data fetch mir" in result.detail


@needs_encoder
def test_masked_cosine_is_the_cosine_of_the_masked_texts(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("word\ngood\nawful\n")
    pairs = [("The food was good.", "The food was awful."), ("The food was cold", "No soup today")]
    scorer, hide = registry.get(f"masked-cosine:{path}"), Mask(lexicon("good", "awful"), "[MASK]")
    for output, source in pairs:
        plain = single(metric("cosine"), hide(output), hide(source))
        assert single(scorer, output, source).value == pytest.approx(plain.value, abs=1e-6)
    assert single(scorer, *pairs[0]).value > single(metric("cosine"), *pairs[0]).value
