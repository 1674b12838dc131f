"""Parsed texts for tests: CoNLL-U and trees by a few words."""

import random

import pytest

from tstmeta.models import fetching
from tstmeta.models.parses import MODEL, Word

#: Skips a test where the model is not on this machine.
needs_spacy = pytest.mark.skipif(
    not fetching.catalogue()[MODEL].here,
    reason=f"{MODEL} is not on this machine: {fetching.catalogue()[MODEL].remedy}",
)


def sentence(words, *marks, text=""):
    """CoNLL-U of ``form/head/relation`` words, with ``/lemma/upos`` where they are wanted."""
    rows = []
    for place, word in enumerate(words.split(), 1):
        form, head, relation, *rest = word.split("/")
        lemma, upos = rest or ("_", "_")
        columns = [str(place), form, lemma, upos, "_", "_", head, relation, "_", "_"]
        rows.append("\t".join(columns))
    text = text or " ".join(word.split("/")[0] for word in words.split())
    return "\n".join([*(f"# {mark}" for mark in marks), f"# text = {text}", *rows]) + "\n\n"


def tree(words):
    """The same words as a tree."""
    rows = (word.split("/") for word in words.split())
    return tuple(
        Word(form, rest[1] if rest else "_", int(head), relation)
        for form, head, relation, *rest in rows
    )


def write(path, *sentences):
    """A file of sentences; gives its name."""
    path.write_text("".join(sentences), encoding="utf-8")
    return str(path)


CAT = "the/2/det cat/3/nsubj sees/0/root a/5/det dog/3/obj"
DOG = "the/2/det dog/3/nsubj sees/0/root a/5/det cat/3/obj"
OLD = "the/3/det old/3/amod cat/4/nsubj sees/0/root a/6/det dog/4/obj"
#: What they say.
TEXTS = ["the cat sees a dog", "the dog sees a cat", "the old cat sees a dog"]


def animals(folder):
    """A file of their parses; gives its name."""
    return write(folder / "a.conllu", *map(sentence, (CAT, DOG, OLD)))


def drawn(seed, size, forms="abc", roots=0.1):
    """A random tree: words in any order, several roots now and then."""
    rng = random.Random(seed)
    order = rng.sample(range(1, size + 1), size)
    words = [None] * size
    for number, place in enumerate(order):
        root = number == 0 or rng.random() < roots
        head = 0 if root else order[rng.randrange(number)]
        words[place - 1] = Word(rng.choice(forms), "_", head, rng.choice(["x", "y"]))
    return tuple(words)
