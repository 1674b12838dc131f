"""Questions by the Batch API: the same answers, each paid for once, whatever stops the run."""

import json

import pandas as pd
import pytest

from tests.judge import scripted
from tests.judge.asking import answers, chat, kept, question, questions
from tests.judge.scripted import Bulk, error, says, serving
from tstmeta.data import own
from tstmeta.judge import batch, prompts, ratings
from tstmeta.judge import client as clients
from tstmeta.judge.base import Sampling, Unusable
from tstmeta.judge.runner import Budget, Price, worst


def echo(asked):
    return says(asked.prompt)


def batched(server, asked, folder, **options):
    """The replies of a run in batches, at once."""
    served = options.pop("served", None) or chat(server, retries=0)
    return batch.run(asked, served, cache=folder / "answers.sqlite", poll=0, **options)


class Killed(BaseException):
    """No error that anybody handles."""


def killed(word):
    """Ends the run when it tells this."""

    def tell(words):
        if word in words:
            raise Killed

    return tell


#: What the judge does with each rewrite, and the status that comes of it.
ENDS = {
    "good": (says("4"), "ok"),
    "words": (says("eleven"), "invalid"),
    "sorry": (says(None, refusal="No."), "refused"),
    "held": (error(400, "held back", fields={"code": "content_filter"}), "refused"),
    "down": (error(500, "oh"), "error"),
    "no key": (error(401, "wrong key"), "error"),
    "rubbish": (scripted.raw({"choices": []}), "error"),
}


def test_the_rows_are_those_of_a_direct_run_and_each_way_reads_what_the_other_asked(tmp_path):
    rows = [{"source": "a text", "style": "formal", "output": each} for each in ENDS]
    pd.DataFrame(rows).to_csv(tmp_path / "mine.csv", index=False)
    dataset, prompt = own.read(tmp_path / "mine.csv"), prompts.load("content")
    mended = []

    def script(asked):
        end = ENDS[asked.prompt.split("\n====\n")[-2].split("====\n")[-1]][0]
        return says("2") if mended and end.status != 200 else end

    def rated(name, **options):
        served = chat(server, retries=0)
        return ratings.ask(dataset, prompt, served, cache=tmp_path / name, **options)

    bulk = Bulk()
    with serving(script, bulk=bulk) as server:
        through = {"runner": batch.run, "poll": 0}
        table = rated("batch", **through)
        assert table["status"].tolist() == [status for _, status in ENDS.values()]
        assert server.requests == 0
        mended.append(True)
        direct = rated("batch", progress=False)
        failed = (table["status"] == "error").sum()
        assert server.requests == failed, "only what failed in the batch is asked"
        pd.testing.assert_frame_equal(direct, rated("batch", **through))
        assert [len(lines) for lines in bulk.sent()] == [len(ENDS), 1], "rubbish again"
        assert bulk.sent()[0][-1]["body"] in server.bodies
        facts = {key: bulk.sent()[0][0][key] for key in ("method", "url")}
        assert facts == {"method": "POST", "url": "/v1/chat/completions"}
        assert {b["completion_window"] for b in bulk.batches.values()} == {"24h"}


@pytest.mark.parametrize("word", ["is begun", "in_progress", "completed"])
def test_a_run_that_is_killed_after_a_batch_began_reads_it_the_next_time(tmp_path, word):
    bulk = Bulk("validating", "in_progress", "finalizing", "completed")
    with serving(echo, bulk=bulk) as server:
        with pytest.raises(Killed):
            batched(server, questions(5), tmp_path, tell=killed(word))
        told, budget = [], Budget(requests=6)
        replies = batched(server, questions(8), tmp_path, tell=told.append, budget=budget)
    assert [reply.text for reply in replies[:6]] == [f"Rate number {n}." for n in range(6)]
    assert "batch batch_0 of an earlier run is taken up: 5 questions" in told
    assert [len(lines) for lines in bulk.sent()] == [5, 1], "what is taken up counts"
    assert [reply.failure for reply in replies[6:]] == ["budget: 6 requests are used up"] * 2
    assert (budget.sent, kept(tmp_path), kept(tmp_path, "batched")) == (6, 6, 0)


@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("act", [scripted.RESET, error(500, "oh")], ids=["reset", "500"])
def test_a_batch_whose_beginning_was_not_confirmed_is_looked_for(tmp_path, heard, act):
    bulk = Bulk(acts={"POST /batches": act}, heard=heard)
    with serving(echo, bulk=bulk) as server:
        with pytest.raises(Unusable, match=r"post /batches.*the same command goes on"):
            batched(server, questions(3), tmp_path)
        assert bulk.calls["POST /batches"] == 1
        replies = batched(server, questions(3), tmp_path)
    assert [reply.text for reply in replies] == [f"Rate number {n}." for n in range(3)]
    assert (len(bulk.batches), bulk.calls["POST /files"]) == (1, 1 if heard else 2)


def first_only(output, errors):
    """A batch that ended early: one answer, one line that says why there is none, one line less."""
    del output[2]
    gone = {"code": "batch_expired", "message": "too late"}
    errors.append({"custom_id": output.pop()["custom_id"], "response": None, "error": gone})


def test_what_is_there_is_read_and_the_rest_is_asked_by_the_next_run(tmp_path):
    bulk, budget = Bulk("cancelling", "expired", odd=first_only), Budget()
    with serving(echo, bulk=bulk) as server:
        replies = batched(server, questions(3), tmp_path, budget=budget)
        assert replies[0].text == "Rate number 0."
        assert "batch_expired" in replies[1].failure
        assert replies[2].failure == "no answer in batch batch_0, which is expired"
        assert (budget.prompt_tokens, budget.answer_tokens) == (10, 5)
        bulk.odd = lambda output, errors: None
        assert not any(reply.failure for reply in batched(server, questions(3), tmp_path))
    assert [len(lines) for lines in bulk.sent()] == [3, 2]


def test_a_batch_that_is_refused_and_a_text_that_cannot_be_sent_say_why_in_each_row(tmp_path):
    why = {"data": [{"code": "token_limit_exceeded", "message": "too many tokens"}]}
    with serving(echo, bulk=(bulk := Bulk("failed", more={"errors": why}))) as server:
        half, *others = batched(server, [question("\ud800"), *questions(2)], tmp_path)
    assert "half a character" in half.failure
    assert [len(lines) for lines in bulk.sent()] == [2]
    assert all("which is failed" in reply.failure for reply in others)
    assert all("too many tokens" in reply.failure for reply in others)
    assert kept(tmp_path, "batched") == 0


def strange(output, errors):
    """Lines that are none, that nobody asked for, that come twice; and other ends of lines."""
    good = output[0]["response"]
    output[0]["response"]["body"]["choices"][0]["message"]["content"] = "two\u2028lines\x85"
    output[0] = json.dumps(output[0], ensure_ascii=False).encode()
    twice = {**output[1], "response": {**good, "body": {}}}
    output[1:1] = [b"", b"{", b"[" * 10_000, b"\xff", {"custom_id": "k" * 64, "response": good}]
    output += [twice, {"custom_id": output[-1]["custom_id"]}, {"custom_id": 3}]
    errors += [twice, {"response": good}]


def test_lines_that_say_nothing_of_a_question_are_ignored(tmp_path):
    with serving(echo, bulk=Bulk(odd=strange)) as server:
        replies = batched(server, questions(2), tmp_path)
    assert [reply.text for reply in replies] == ["two\u2028lines\x85", "Rate number 1."]


@pytest.mark.parametrize("bound", ["requests", "bytes"])
def test_files_are_as_large_as_they_may_be(tmp_path, monkeypatch, bound):
    with serving(echo, bulk=(bulk := Bulk())) as server:
        if bound == "requests":
            monkeypatch.setattr(batch, "MOST_REQUESTS", 4)
        else:
            batched(server, questions(1), tmp_path / "size")
            size = len(next(iter(bulk.files.values())))
            bulk.files.clear()
            monkeypatch.setattr(batch, "MOST_BYTES", 4 * size)
        replies = batched(server, questions(10), tmp_path)
    assert [reply.text for reply in replies] == [f"Rate number {n}." for n in range(10)]
    assert [len(lines) for lines in bulk.sent()] == [4, 4, 2]


def test_no_more_are_sent_than_the_money_allows_at_the_worst(tmp_path):
    price = Price(prompt=1.0, answer=10.0)
    money = price.of(*worst(questions(1)[0])) * 3.5
    with serving(echo, bulk=(bulk := Bulk())) as server:
        budget = Budget(money=money, price=price)
        replies = batched(server, questions(10), tmp_path, budget=budget)
    assert [len(lines) for lines in bulk.sent()] == [3]
    assert [reply.failure.startswith("budget") for reply in replies] == [False] * 3 + [True] * 7
    assert (budget.prompt_tokens, budget.answer_tokens, budget.under_way) == (30, 15, 0)


def test_fields_that_a_server_refuses_are_left_out_of_a_second_batch(tmp_path):
    asked = [question(f"Rate {n}.", sampling=Sampling(seed=n)) for n in range(2)]

    def script(request):
        for name, words in (("max_tokens", "use max_completion_tokens"), ("seed", "seed?")):
            if name in request.body:
                return error(400, words)
        return echo(request)

    budget = Budget(requests=2)  # of answers: what was refused is no more than a retry
    with serving(script, bulk=(bulk := Bulk())) as server:
        served = chat(server)
        replies = batched(server, asked, tmp_path, served=served, budget=budget)
    assert [reply.text for reply in replies] == ["Rate 0.", "Rate 1."]
    assert "max_completion_tokens" in bulk.sent()[-1][0]["body"]
    assert len(served.notes) == 2
    assert budget.under_way == 0


PASSING = {
    "a busy server": ("GET /batches/batch_0", error(503, "busy")),
    "a download that breaks": ("GET /files/file-output-batch_0/content", scripted.HALF),
}


@pytest.mark.parametrize(("call", "act"), PASSING.values(), ids=PASSING)
def test_a_look_that_fails_is_told_and_taken_again(tmp_path, call, act):
    told: list[str] = []
    with serving(echo, bulk=(bulk := Bulk(acts={call: act}))) as server:
        replies = batched(server, questions(2), tmp_path, tell=told.append)
    assert [reply.text for reply in replies] == ["Rate number 0.", "Rate number 1."]
    assert sum(words.endswith("; looking again") for words in told) == 1
    assert "batch batch_0: completed, 2/2 answered" in told
    assert len(bulk.batches) == 1


def test_a_server_that_is_silent_for_long_ends_the_run_and_the_batch_stays_known(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(clients, "DEAD", 2)
    with serving(echo, bulk=(bulk := Bulk())) as server:
        with pytest.raises(Killed):
            batched(server, questions(1), tmp_path, tell=killed("is begun"))
        bulk.acts = {"GET /batches/batch_0": error(401, "wrong key")}
        with pytest.raises(Unusable, match="see the API key"):
            batched(server, questions(1), tmp_path)
        bulk.states = ("",)
        bulk.answer = lambda *call: error(500, "oh")
        with pytest.raises(Unusable, match=r"answers 500: oh\. Remedy: the same command goes on"):
            batched(server, questions(1), tmp_path)
        assert kept(tmp_path, "batched") == 1
        assert answers(server, questions(1), tmp_path)[0].text == "Rate number 0."
        batched(server, questions(1), tmp_path)
    assert bulk.calls["POST /files"] == 1


MISTAKES = {
    "no Batch API": (Bulk(acts={"POST /files": error(404)}), "the same command without --batch"),
    "no key": (Bulk(acts={"POST /files": error(401, "no")}), "see the API key"),
    "no file": (Bulk(acts={"POST /files": scripted.PAGE}), "post /files: no answer to use came"),
    "a path": (Bulk(acts={"POST /files": scripted.raw({"id": "../models"})}), "no answer to use"),
    "no batch": (Bulk(acts={"POST /batches": scripted.raw([])}), "post /batches: no answer to use"),
}


@pytest.mark.parametrize(("bulk", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_server_that_takes_no_batch_says_what_to_do(tmp_path, bulk, words):
    with serving(echo, bulk=bulk) as server, pytest.raises(Unusable, match=words):
        batched(server, questions(1), tmp_path)
