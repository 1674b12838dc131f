"""Agreement beside cost: committed times, values that are computed, signs the right way up."""

import json
import math

import pandas as pd
import pytest

from tests.report.test_html import Page
from tstmeta.report import cost
from tstmeta.report.bench import Bench


def costs(**seconds):
    rows = [
        (name.replace("_", "-"), "source", one, one * 10, 1.5, 0) for name, one in seconds.items()
    ]
    return pd.DataFrame(rows, columns=["metric", "basis", "seconds", "times", "mib", "parameters"])


@pytest.fixture(scope="module")
def worth(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("store"))
    given = costs(bleu=0.1, ter=5.0, pinc=0.05)
    return cost.Worth(bench, [bench.dataset("contrast")], "content", costs=given)


def test_costs_are_read_cheapest_first(tmp_path):
    made = [
        {"metric": name, "basis": "source", "seconds_a_thousand": one, "ratio": 1, "parameters": 2}
        for name, one in (("b", 3.0), ("a", 1.0))
    ]
    file = tmp_path / "cost.json"
    file.write_text(json.dumps({"rows": made}))
    found = cost.committed(file)
    assert found[["metric", "seconds", "times"]].to_numpy().tolist() == [["a", 1, 1], ["b", 3, 1]]
    assert found["mib"].isna().all()


def test_without_results_nothing_is_shown_but_the_remedy(tmp_path):
    found = cost.committed(tmp_path / "none.json")
    assert found.empty
    part = cost.Worth(Bench(tmp_path), [], "content", costs=found)
    for shown in (part.table(), part.said(), part.picture()):
        assert "benchmarks/cost.py" in shown.data


def test_where_less_is_better_the_sign_is_turned(worth, tmp_path):
    rows = worth.rows.set_index("metric")
    bench = Bench(tmp_path)
    truth = bench.dataset("contrast").label("error").eq("none").astype(float)
    for name, sign in (("bleu", 1), ("ter", -1)):
        values = bench.scores("contrast", name, "source")["value"].to_numpy()
        r = pd.Series(values).corr(pd.Series(truth.to_numpy()))
        assert rows["value"][name] == pytest.approx(sign * r)
        assert rows["n"][name] == len(truth)


def test_the_table_marks_the_best_of_each_data_set(worth):
    page = Page(worth.table().text)
    best = worth.rows.loc[worth.rows["value"].idxmax()]
    assert page.text.count(best["metric"]) == 1
    assert [tag for tag, _ in page.tags].count("b") == 1
    assert worth.table().text.count("<tr>") == 1 + len(worth.rows)


def test_the_sentence_names_the_best_and_the_best_cheap_one(tmp_path):
    bench = Bench(tmp_path)
    dear = costs(bleu=0.1, ter=500.0)
    part = cost.Worth(bench, [bench.dataset("contrast")], "content", costs=dear)
    part.rows["value"] = [0.1, 0.9]
    assert part.said().data == (
        "- `contrast`: best is `ter` (0.90), which takes 5,000 times as long as word BLEU."
        " Among metrics of at most 20 times BLEU it is `bleu` (0.10)."
    )


def test_the_line_joins_what_no_cheaper_metric_beats(worth):
    [axis] = worth.picture().figure.axes
    [line] = [
        one for one in axis.lines if len(one.get_xdata()) and one.get_drawstyle() != "default"
    ]
    values = list(line.get_ydata())
    assert values == sorted(values)
    assert max(values) == worth.rows["value"].max()
    assert not any(math.isnan(one) for one in values)


def test_a_metric_of_another_dimension_is_left_out(tmp_path):
    bench = Bench(tmp_path)
    part = cost.Worth(bench, [bench.dataset("contrast")], "fluency", costs=costs(bleu=0.1))
    assert part.rows.empty


def test_names_stand_where_the_line_rises_so_that_it_can_be_seen():
    front = pd.DataFrame({"metric": list("abcd"), "value": [0.1, 0.105, 0.12, 0.121]})
    assert [row["metric"] for row in cost._named(front, 0.4)] == ["a", "c"]


def test_time_is_a_multiple_of_bleu_s_and_heads_say_n(worth):
    [axis] = worth.picture().figure.axes
    dots = axis.collections[0].get_offsets()[:, 0]
    assert sorted(dots) == sorted(worth.rows["times"])
    assert "n = 960" in Page(worth.table().text).text


def test_a_metric_of_whole_outputs_is_left_out_of_the_table(tmp_path):
    bench = Bench(tmp_path)
    given = costs(bleu=0.1, corpus_bleu=0.2)
    part = cost.Worth(bench, [bench.dataset("contrast")], "content", costs=given)
    assert "corpus-bleu" not in part.table().text
    assert part.table().text.count("<tr>") == 2


def test_where_agreement_has_no_value_the_page_says_so(tmp_path):
    bench = Bench(tmp_path)
    given = costs(corpus_bleu=0.2)
    part = cost.Worth(bench, [bench.dataset("contrast")], "content", costs=given)
    for shown in (part.table(), part.said(), part.picture()):
        assert "No metric has a value" in shown.data
