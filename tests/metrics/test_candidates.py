"""What questions are asked about: the rule on sentences of ours, and a parser that is given."""

import sys
import types
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.metrics import candidates
from tstmeta.metrics.candidates import RULE, by_parser, by_rule
from tstmeta.metrics.factual import QuestEval
from tstmeta.schema import TstmetaError

PHRASES = [
    ("The waiter was rude and the soup was cold.", ["The waiter", "the soup"]),
    ("so slow!!", []),
    ("", []),
    ("a the", []),
    ("I love this place.", ["this place"]),
    ("They told us about the fried rice.", ["the fried rice"]),
    ("The cook served my mother.", ["The cook", "my mother"]),
    ("They tasted wonderfully fresh.", []),
    ("We had fresh warm bread.", ["fresh warm bread"]),
    ("Filling in forms, bored and of listening", ["forms"]),
    ("great food, great staff", ["great food", "great staff"]),
]


@pytest.mark.parametrize(("text", "found"), PHRASES)
def test_noun_phrases_are_found_without_a_parser(text, found):
    assert by_rule(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met Barack Obama in Berlin.", ["Barack Obama", "Berlin"]),
        ("He works at the Bank of England.", ["Bank of England"]),
        ("We saw Anna and Paul.", ["Anna", "Paul"]),
        ("Maria Lind is nice.", ["Maria Lind"]),
        ("It cost $35,000 for 5 nights, 20% off.", ["$35,000", "5", "20%"]),
        ("Nous aimons Ünal et le café.", ["Ünal"]),
        ("Nous aimons U\u0308nal.", ["Ünal"]),
    ],
)
def test_names_and_numbers_are_found_without_a_parser(text, found):
    """They come before the phrases."""
    assert by_rule(text)[: len(found)] == found


def test_a_shouted_sentence_and_a_first_word_are_no_names():
    assert by_rule("WE HATE THIS PLACE") == ["THIS PLACE"]
    assert by_rule("Soup is nice.") == ["Soup"]


def test_a_number_stands_alone_and_in_its_phrase():
    assert by_rule("We gave it 5 stars.") == ["5", "5 stars"]


def test_only_the_first_sentences_count_and_each_answer_once():
    text = " ".join(f"The {word} was old." for word in ("cup", "cup", "jar", "pan", "pot", "lid"))
    assert by_rule(text) == ["The cup", "The jar", "The pan", "The pot"]
    assert "5 sentences" in RULE.name


@given(st.text(max_size=60))
def test_any_text_gives_parts_of_it_and_no_blank_one(text):
    whole = unicodedata.normalize("NFC", text)
    for one in by_rule(text):
        assert one in whole
        assert one.strip()


def test_ten_thousand_words_are_no_trouble():
    assert by_rule("word " * 10_000) == [("word " * 10_000).strip()]


class Parser:
    """Stands in a pipeline of spaCy's place: what is capitalised is an entity, words are chunks."""

    meta = types.MappingProxyType({"lang": "en", "name": "tiny", "version": "1.2"})

    def __call__(self, text):
        words = [types.SimpleNamespace(text=word.strip(".")) for word in text.split()]
        return types.SimpleNamespace(
            ents=[one for one in words if one.text[0].isupper()], noun_chunks=words
        )


def test_a_parser_gives_entities_then_chunks_and_repeats_weigh():
    found = by_parser(Parser())
    assert found.name == "en_tiny-1.2,5 sentences"
    assert found.find("Anna met dogs.") == ["Anna", "Anna", "met", "dogs"]
    assert len(found.find("Go. " * 9)) == 10


def test_the_word_spacy_loads_the_parser_of_upstreams_program(monkeypatch):
    asked = []
    module = types.SimpleNamespace(load=lambda name: asked.append(name) or Parser())
    monkeypatch.setattr(candidates, "parser_missing", lambda: "")
    monkeypatch.setitem(sys.modules, "spacy", module)
    made = QuestEval("spacy")
    assert made.candidates.find("Anna.") == ["Anna", "Anna"]
    assert asked == ["en_core_web_sm"]
    assert "about:en_tiny-1.2,5 sentences" in str(made.signature("source"))


def test_a_parser_that_is_not_here_says_what_to_do(monkeypatch):
    monkeypatch.setattr(candidates, "PARSER", "no_such_parser")
    with pytest.raises(TstmetaError, match=r"spacy download no_such_parser; or leave the word"):
        candidates.spacy()
