"""Metrics of syntax from a file of one's own to scores, on a UDPipe model that is trained here."""

import pytest
from ufal.udpipe import Model, Pipeline

import tstmeta as tst
from tests.metrics import item, scores
from tests.parsing import train_udpipe
from tstmeta.metrics.synwmd import SynWmd
from tstmeta.metrics.trees import Ted

TEXTS = ["the cat sees a dog .", "the dog sees a cat .", "a dog likes the old food ."]
ROWS = [f"s{place},{text},{TEXTS[0]}" for place, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A UDPipe model, what it parses as a file, and the words that synwmd needs besides."""
    folder = tmp_path_factory.mktemp("parsed")
    model = train_udpipe(folder / "tiny.udpipe")
    texts, vectors, parses = (folder / name for name in ("t.txt", "v.txt", "p.conllu"))
    texts.write_text("\n".join(TEXTS))
    words = sorted({word for text in TEXTS for word in text.split()})
    lines = (f"{word} 1 {place} {place % 3}\n" for place, word in enumerate(words))
    vectors.write_text("".join(lines))
    loaded = Model.load(model)  # a pipeline does not keep its model alive
    write = Pipeline(loaded, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    parses.write_text("".join(map(write.process, TEXTS)))
    return {"model": model, "file": str(parses), "texts": f"texts={texts}", "vectors": vectors}


def scored(folder, names):
    data = folder / "mine.csv"
    data.write_text("\n".join(["source_id,source,output", *ROWS]))
    table = tst.score(tst.read(data), names, ["source"], store=folder / "store", progress=False)
    assert set(table["status"]) == {"ok"}, table["detail"].tolist()
    return table["value"].to_numpy().reshape(len(names), -1)


def test_metrics_of_syntax_say_of_a_model_what_they_say_of_its_parses(files, tmp_path):
    model, file, vectors = files["model"], files["file"], f"vectors={files['vectors']}"
    by_model = [f"ted:{model}", f"smatch-dep:{model}"]
    by_model.append(f"synwmd:{model}+{files['texts']}+{vectors}")
    by_file = [f"ted:{file}", f"smatch-dep:{file}", f"synwmd:{file}+{vectors}"]
    values = scored(tmp_path, by_model)
    assert values == pytest.approx(scored(tmp_path, by_file), abs=1e-12)
    assert values[:2, 0].tolist() == [0, 1]  # a copy
    assert values[0, 1] == 2  # two words change places in the same tree
    [long] = scores(Ted(model), item(f"{TEXTS[0]} " * 2000, TEXTS[0]))
    assert long.detail == "12000 words, first 200 used"


def test_words_are_weighed_by_the_texts_that_are_named_or_by_those_of_the_file(files):
    assert "is a model, which has no sentences to weigh words by" in SynWmd(files["model"]).missing
    both = SynWmd(f"{files['file']}+{files['texts']}")
    assert "has its own sentences to weigh words by" in both.missing
    named = SynWmd(f"{files['model']}+{files['texts']}+vectors={files['vectors']}")
    assert named.missing == ""
    assert "texts:t.txt@" in str(named.signature("source"))
