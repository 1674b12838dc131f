"""Parsed texts for tests: CoNLL-U by a few words, and a tiny UDPipe model trained on them."""

import random
from functools import cache

from tstmeta.models.parses import Word


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
        Word(form, *(rest or ("_", "_")), int(head), relation)
        for form, head, relation, *rest in rows
    )


def write(path, *sentences):
    """A file of sentences; gives its name."""
    path.write_text("".join(sentences), encoding="utf-8")
    return str(path)


CAT = "the/2/det cat/3/nsubj sees/0/root a/5/det dog/3/obj"
DOG = "the/2/det dog/3/nsubj sees/0/root a/5/det cat/3/obj"
OLD = "the/3/det old/3/amod cat/4/nsubj sees/0/root a/6/det dog/4/obj"


def drawn(seed, size, forms="abc", roots=0.1):
    """A random tree: words in any order, several roots now and then."""
    rng = random.Random(seed)
    order = rng.sample(range(1, size + 1), size)
    words = [None] * size
    for number, place in enumerate(order):
        root = number == 0 or rng.random() < roots
        head = 0 if root else order[rng.randrange(number)]
        words[place - 1] = Word(rng.choice(forms), "_", "_", head, rng.choice(["x", "y"]))
    return tuple(words)


# ------------------------------------------------------------------------------------- UDPipe

_WORDS = {
    "DET": ("the", "a"),
    "NOUN": ("cat", "dog", "food"),
    "VERB": ("sees", "likes"),
    "ADJ": ("old", "bad"),
}
_SHAPES = (
    "DET/2/det NOUN/3/nsubj VERB/0/root DET/5/det NOUN/3/obj ./3/punct",
    "DET/2/det NOUN/3/nsubj VERB/0/root DET/6/det ADJ/6/amod NOUN/3/obj ./3/punct",
)


def train_udpipe(path, parser=True):
    """Train a UDPipe model on thirty sentences of eight words' vocabulary; gives its file."""
    path.write_bytes(_trained(parser))
    return str(path)


@cache
def _trained(parser):
    from ufal import udpipe

    rng = random.Random(0)
    lines = []
    for _ in range(30):
        words = []
        for slot in rng.choice(_SHAPES).split():
            kind, head, relation = slot.split("/")
            form = rng.choice(_WORDS.get(kind, (kind,)))
            upos = kind if kind in _WORDS else "PUNCT"
            words.append(f"{form}/{head}/{relation}/{form.removesuffix('s')}/{upos}")
        lines.append(sentence(" ".join(words)))
    error, read = udpipe.ProcessingError(), udpipe.Sentences()
    reader = udpipe.InputFormat.newConlluInputFormat("")
    reader.setText("".join(lines))
    while reader.nextSentence(one := udpipe.Sentence(), error):
        read.push_back(one)
    model = udpipe.Trainer.train(
        "morphodita_parsito",
        read,
        udpipe.Sentences(),
        "dimension=16;epochs=1;batch_size=5;learning_rate=0.02;segment_size=10;seed=1",
        "models=1;iterations=2",
        "embedding_upostag=4;embedding_feats=2;embedding_xpostag=2;embedding_form=4;"
        "embedding_lemma=4;embedding_deprel=4;iterations=4;hidden_layer=8;use_gold_tags=1;run=1"
        if parser
        else "none",
        error,
    )
    if error.occurred():
        raise RuntimeError(error.message)
    return model
