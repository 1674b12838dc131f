"""Every training: the same bytes from the same seed, also after a kill; nothing written over."""

import json

import pytest
import torch

from experiments.training import loop
from experiments.training.lm import share_of_rate
from experiments.training.loop import CHECKPOINT, FINE_TUNING, REPORT, LmOptions, configure
from tests.experiments.training.conftest import KINDS, TEXTS, Killed, digests, killed
from tstmeta import storage
from tstmeta.schema import TstmetaError


def weights(folder):
    return next(digests(folder)[path.name] for path in folder.glob("*.safetensors"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_weights(
    run, finished, tmp_path, kind
):
    before = torch.get_rng_state()
    assert run(tmp_path / "same", kind) == finished[kind][1]
    run(tmp_path / "other", kind, seed=7)
    assert digests(tmp_path / "same") == digests(finished[kind][0])
    assert weights(tmp_path / "other") != weights(finished[kind][0])
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"linear"}))
def test_a_run_that_dies_again_and_again_ends_byte_by_byte_the_same(run, finished, tmp_path, kind):
    for at in (1, 3, 4):
        with killed(at):
            run(tmp_path, kind)
        assert not [path for path in tmp_path.glob("*.safetensors") if path.name != CHECKPOINT]
    assert len(loop.read_checkpoint(tmp_path)[0]["losses"]) in (2, 4)
    run(tmp_path, kind)
    assert digests(tmp_path) == digests(finished[kind][0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_dies_before_its_report_is_done_again(
    run, finished, tmp_path, monkeypatch, kind
):
    write = storage.write

    def dying(path, content):
        if path.name == REPORT:
            raise Killed
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "write", dying)
        with pytest.raises(Killed):
            run(tmp_path, kind)
    run(tmp_path, kind)
    assert digests(tmp_path) == digests(finished[kind][0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_known_by_all_that_made_it_and_never_written_over(
    run, finished, tmp_path, kind
):
    out, report = finished[kind]
    before = digests(out)
    assert json.loads((out / REPORT).read_text(encoding="utf-8")) == report
    assert CHECKPOINT not in before
    assert run(out, kind) == report
    with pytest.raises(TstmetaError, match="holds a model of another run"):
        run(out, kind, seed=9)
    assert digests(out) == before
    (tmp_path / "model.safetensors").write_bytes(b"precious")  # of elsewhere
    with pytest.raises(TstmetaError, match="name another folder with --out"):
        run(tmp_path, kind)
    assert (tmp_path / "model.safetensors").read_bytes() == b"precious"


def test_a_checkpoint_of_another_run_or_a_damaged_one_is_refused(run, tmp_path):
    with killed(3):
        run(tmp_path, "lm")
    for change in ({"seed": 9}, {"texts": TEXTS[1:]}):
        with pytest.raises(TstmetaError, match="checkpoint of another run"):
            run(tmp_path, "lm", **change)
    (tmp_path / CHECKPOINT).write_bytes(b"not tensors at all")
    with pytest.raises(TstmetaError, match="delete it to begin anew"):
        run(tmp_path, "lm")


def test_each_epoch_shows_each_sentence_once_in_its_own_order():
    steps = [loop.rows_of(step, count=10, batch=4, seed=3).tolist() for step in range(6)]
    assert [len(rows) for rows in steps] == [4, 4, 2, 4, 4, 2]
    epochs = [[row for rows in steps[at : at + 3] for row in rows] for at in (0, 3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(10))] * 2
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize(
    ("step", "share"), [(0, 0.1), (4, 0.5), (9, 1.0), (50, 1.0), (60, 1.0), (80, 0.5), (99, 0.025)]
)
def test_the_rate_warms_up_stays_and_cools_down(step, share):
    assert share_of_rate(step, 100, 10, 0.4) == pytest.approx(share)
    assert share_of_rate(max(step, 9), 100, 10, 0.0) == 1.0


def test_settings_change_options():
    options = configure(LmOptions(), ["width=64", "rate=0.5", "mixed=false"])
    assert (options.width, options.rate, options.mixed, options.layers) == (64, 0.5, False, 3)
    printed = {"length": 512, "epochs": 10, "batch": 2, "rate": 1e-5, "decay": 0.01}
    assert FINE_TUNING.model_dump().items() >= printed.items()  # Mukherjee et al., Appendix C


@pytest.mark.parametrize(
    ("options", "setting", "message"),
    [
        (LmOptions(), "depth=3", "--set depth=3: .*NAME=VALUE with one of epochs, rate"),
        (LmOptions(), "width=wide", "--set width=wide: .*integer"),
        (LmOptions(), "heads=3", "3 heads do not fit a width of 128"),
    ],
)
def test_options_that_cannot_be_are_refused(options, setting, message):
    with pytest.raises(TstmetaError, match=message):
        configure(options, [setting])
