from tstmeta.data import catalogue, names
from tstmeta.schema import TstmetaError


def test_every_data_set_has_a_row_even_where_nothing_is_here(bare):
    frame = catalogue.datasets().set_index("name")
    assert frame.index.tolist() == names()
    assert frame.loc["mir", "items"] == 2928  # from the card, as the next
    assert frame.loc["mir", "dimensions"] == "content, style, fluency"
    assert frame.loc["pauli", ["dimensions", "here"]].tolist() == ["content, style", "numbers"]


def test_a_data_set_that_cannot_be_loaded_does_not_hide_the_others(bare, monkeypatch, capsys):
    def broken(name):
        raise {"theirs": ImportError("no module"), "other": TstmetaError("spoilt")}[name]

    monkeypatch.setattr(catalogue, "names", lambda: ["theirs", "other"])
    monkeypatch.setattr(catalogue, "load", broken)
    assert (catalogue.datasets()["here"] == "no").all()
    assert "theirs cannot be loaded: ImportError: no module" in capsys.readouterr().err


def test_a_set_of_ours_that_cannot_be_fetched_is_here_where_its_file_can_be_read(bare, capsys):
    assert [catalogue.here(name) for name in ("contrast", "cao")] == ["yes", "no"]
    (bare / "cao").mkdir()
    (bare / "cao/cao.csv").write_text("source\na\n")
    assert catalogue.here("cao") == "no"
    assert "cao cannot be loaded: DataError: 1 problem" in capsys.readouterr().err
    (bare / "cao/cao.csv").write_text("source,output\na,b\n")
    assert catalogue.here("cao") == "yes"


def test_a_file_is_described_by_its_counts(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(
        "source,output,system,direction,reference,is_reference,style.r1\n"
        "a,a,A,up,x,,1\na,,B,up,,,2\nb,c,,,,yes,4\n"
    )
    actual = catalogue.describe(str(path)).facts.set_index(["part", "what"])["value"]
    once = ["human references as items", "items with references", "empty outputs"]
    counts = dict.fromkeys([*once, "outputs equal to the source"], "1")
    counts |= {"items": "3", "sources": "2", "systems": "2", "ratings": "3"}
    assert actual["counts"].reindex(counts).to_dict() == counts
    assert actual["style", "mean"] == "2.333"
    assert actual["style", "standard deviation"] == "1.528"
