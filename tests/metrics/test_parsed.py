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
    values = scored(tmp_path, [f"ted:{model}", f"smatch-dep:{model}"])
    by_file = scored(tmp_path, [f"ted:{file}", f"smatch-dep:{file}", f"synwmd:{file}+{vectors}"])
    assert values == pytest.approx(by_file[:2], abs=1e-12)
    assert f"{model} is a model" in SynWmd(model).missing
    assert values[:2, 0].tolist() == [0, 1]  # a copy
    assert values[0, 1] == 2  # two words change places in the same tree
    [long] = scores(Ted(model), item(f"{TEXTS[0]} " * 2000, TEXTS[0]))
    assert long.detail == "12000 words, first 200 used"
