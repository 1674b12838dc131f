"""Chapter 12: metrics against metrics on the data sets of its parameter."""

from tests.report.test_html import Page
from tstmeta.report.alike import Alike
from tstmeta.report.bench import Bench


def test_each_data_set_has_a_map_a_sentence_and_its_spreads(tmp_path):
    part = Alike(Bench(tmp_path), "contrast", ["bleu", "chrf", "length-ratio"])
    assert [one.name for one in part.sets] == ["contrast"]
    page = Page(part.maps().text)
    assert [each.get("class") for tag, each in page.tags if tag == "div"] == ["tst-table tst-map"]
    assert "contrast: Spearman's rho, n = 960" in page.text
    assert "`contrast`, 3 metrics. Most alike: " in part.said().data
    [spread] = [dict(each) for tag, each in Page(part.spreads().text).tags if tag == "img"]
    assert "bleu" in spread["alt"]


def test_the_profile_leaves_out_models_of_a_hub(tmp_path):
    part = Alike(Bench(tmp_path), "contrast", ["bleu", "bleurt"])
    assert part.metrics == ["bleu"]
    assert Alike(Bench(tmp_path), "contrast", ["bleu", "bleurt"], profile="real").metrics == [
        "bleu",
        "bleurt",
    ]
