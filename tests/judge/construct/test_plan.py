"""What is asked for: dealt evenly, kept in the folder, and refused where it makes no sense."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.construct.author import SETTING, wanted
from tstmeta.judge.construct import plan, steps
from tstmeta.schema import DataError, TstmetaError


def of(size, errors=steps.ERRORS, seed=0):
    setting = steps.Setting("formal", seed=seed)
    return plan.Plan("formal", setting, (), size, "", errors, "s", "m")


@given(st.integers(1, 40), st.integers(0, 50), st.permutations(steps.ERRORS), st.integers(1, 3))
def test_kinds_of_error_are_dealt_evenly_and_by_the_seed(size, seed, kinds, many):
    errors = tuple(kinds[:many])
    dealt = of(size, errors, seed).kinds()
    counts = Counter(dealt)
    assert len(dealt) == size
    assert set(dealt) <= set(errors)
    assert max(counts.values()) - min(counts[kind] for kind in errors) <= 1
    assert dealt == of(size, errors, seed).kinds()


def test_another_seed_deals_otherwise():
    assert len({tuple(of(12, seed=seed).kinds()) for seed in range(20)}) > 15


def test_ids_count_from_one_and_sort_as_they_count():
    assert [of(3).source_id(n) for n in (0, 2)] == ["formal-01", "formal-03"]
    ids = [of(120).source_id(n) for n in range(120)]
    assert ids == sorted(ids)


def test_a_plan_that_was_begun_can_only_go_on(tmp_path):
    first = wanted(tmp_path)
    folder = tmp_path / "formal"
    plan.begin(folder, first)
    assert plan.read(folder) == first
    plan.begin(folder, replace(first, origin="the same texts in a file of another name"))
    other = replace(first, model="other", setting=replace(SETTING, seed=4, style="polite"))
    with pytest.raises(TstmetaError, match="differs in style, seed, model") as told:
        plan.begin(folder, other)
    assert "another folder" in str(told.value)
    assert plan.read(folder) == first


def test_a_folder_without_a_plan_or_with_a_broken_one_is_told(tmp_path):
    with pytest.raises(TstmetaError, match="holds no construction"):
        plan.read(tmp_path)
    for broken in ("{", "[]", "{}", '{"setting": {"stile": 1}, "sources": [], "errors": []}'):
        (tmp_path / plan.FILE).write_text(broken)
        with pytest.raises(TstmetaError, match="not as it was written"):
            plan.read(tmp_path)


@pytest.mark.parametrize(
    ("setting", "more", "said"),
    [
        ({"style": " "}, {}, "the style is a few words"),
        ({"style": "a\nb"}, {}, "on one line"),
        ({"style": "x" * 101}, {}, "a few words"),
        ({"style_now": "a\tb"}, {}, "style of the sources"),
        ({"language": "English"}, {}, "no language code"),
        ({"language": "zh-TW"}, {}, "without spaces"),
        ({"temperature": 3.0}, {}, "temperature of 3"),
        ({"temperature": float("nan")}, {}, "temperature of nan"),
        ({}, {"errors": ("typo", "deletion")}, "unknown kind of error 'typo'"),
        ({}, {"errors": ()}, "at least one"),
        ({}, {"errors": ("deletion", "deletion")}, "once"),
    ],
)
def test_what_makes_no_sense_is_told_with_the_remedy(tmp_path, setting, more, said):
    with pytest.raises(TstmetaError, match=said):
        wanted(tmp_path, setting=replace(SETTING, **setting), **more)


def test_sources_are_given_or_asked_for(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("Anna sleeps.\n")
    facts = {"errors": steps.ERRORS, "server": "s", "model": "m"}
    for sources, generate in ((None, None), (file, 3)):
        with pytest.raises(TstmetaError, match="say one"):
            plan.planned(tmp_path / "x", SETTING, sources=sources, generate=generate, **facts)
    with pytest.raises(TstmetaError, match="at least 1"):
        plan.planned(tmp_path / "x", SETTING, sources=None, generate=0, **facts)
    made = plan.planned(tmp_path / "My Set (2)!", SETTING, sources=file, generate=None, **facts)
    assert (made.name, made.size) == ("my-set-2", 1)
    assert made.origin.startswith("the file a.txt, 1 texts, sha256 ")
    assert (
        plan.planned(tmp_path / "文", SETTING, sources=file, generate=None, **facts).name == "set"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "Anna sleeps.\r\n\n  Boris runs. \n"),
        ("a.csv", "id,source\n1,Anna sleeps.\n2,Boris runs.\n"),
        ("a.tsv", "text\tn\nAnna sleeps.\t1\nBoris runs.\t2\n"),
        ("a.jsonl", '{"source": "Anna sleeps.", "text": "x"}\n{"source": "Boris runs."}\n'),
    ],
)
def test_sources_are_read_from_lines_and_tables(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.encode())
    assert plan.read_sources(tmp_path / name) == ("Anna sleeps.", "Boris runs.")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"\n\n", "there are no texts"),
        ("a.txt", b"Anna \xff\n", "not UTF-8"),
        ("a.csv", b"words\nAnna sleeps.\n", "no column of texts"),
        ("a.csv", b"source,n\nAnna sleeps.,1\n  ,2\n", "row 2, column source: no text"),
        ("a.doc", b"x", "unknown format"),
    ],
)
def test_faults_of_a_file_of_sources_are_told_with_their_place(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=said):
        plan.read_sources(tmp_path / name)
    with pytest.raises(DataError, match=r"missing|no such file"):
        plan.read_sources(tmp_path / f"none-{name}")


@pytest.mark.parametrize("name", ["rows", "Ratings", "formal"])
def test_a_data_set_never_takes_the_name_of_a_file_beside_it(tmp_path, name):
    made = plan.planned(
        tmp_path / name,
        steps.Setting("formal"),
        sources=None,
        generate=3,
        errors=steps.ERRORS,
        server="s",
        model="m",
    )
    assert made.name not in ("rows", "ratings")
    assert made.name.startswith(name.lower())
