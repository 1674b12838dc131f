"""Each loss against a loop over sentences, places and words; its gradient by differences."""

import math

import pytest
import torch
from torch.autograd.functional import jacobian

from experiments.transfer import configuration
from experiments.transfer import network as losses
from experiments.transfer.network import BEGIN, END, LanguageGru, Sentences, TransferModel
from tstmeta.models.classifiers import padded

WORDS = 9
SIZES = {"word": 3, "style": 2, "content": 3, "maps": 2, "batch": 3, "temperature": 0.5}
OPTIONS = configuration.read().options.model_copy(update=SIZES)
#: Sentences of both styles by word number: 4 and above are words.
ROWS = [[[4, 5, 6], [7], [8, 4]], [[5], [6, 7, 4, 8], [4, 4]]]
READ = [Sentences(*padded(rows)) for rows in ROWS]
EPS = [torch.tensor([0.2, 0.9, 0.5]).double(), torch.tensor([0.0, 1.0, 0.3]).double()]


def model(*names):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return TransferModel(WORDS, names, OPTIONS).double()


def readers():
    with torch.random.fork_rng():
        torch.manual_seed(4)
        return [LanguageGru(WORDS, OPTIONS).double().eval() for _ in range(2)]


def passes(g):
    """What losses are given: (y_t, z_t) unfolded with x_t, (y_{1-t}, z_t) with its own words."""
    contents = [g.encode(READ[t], t) for t in (0, 1)]
    followed = [g.follow(READ[t], t, contents[t]) for t in (0, 1)]
    return followed, [g.unfold(READ[t], 1 - t, contents[t]) for t in (0, 1)]


def number(tensor):
    return tensor.item() if torch.is_tensor(tensor) else tensor


def words_of(read):
    return [ids[:n] for ids, n in zip(read.ids.tolist(), read.lengths.tolist(), strict=True)]


def cell(gru, x, h):
    """One step of a GRU for one sentence."""
    return torch.gru_cell(x[None], h[None], *gru.all_weights[0])[0]


def encoded(g, words, style):
    h = torch.cat([g.styles[style], torch.zeros(g.content).double()])
    for word in words:
        h = cell(g.encoder, g.words.weight[word], h)
    return h[-g.content :]


def log_p(g, words, style, z):
    """log p_G(words and end mark), word by word, and the states."""
    h, total, states = torch.cat([g.styles[style], z]), 0.0, []
    for before, word in zip([BEGIN, *words], [*words, END], strict=True):
        h = cell(g.decoder, g.words.weight[before], h)
        states.append(h)
        total = total + torch.log_softmax(g.out(h), 0)[word]
    return total, states


def freely(g, count, style, z):
    """States and logits over ``count`` places with the own distributions fed back."""
    h, fed, states, logits = torch.cat([g.styles[style], z]), g.words.weight[BEGIN], [], []
    for _ in range(count):
        h = cell(g.decoder, fed, h)
        states.append(h)
        logits.append(g.out(h))
        likely = (logits[-1] / 0.5).softmax(0)
        fed = sum(p * vector for p, vector in zip(likely, g.words.weight, strict=True))
    return states, logits


def judged(judge, states):
    """A discriminator's answer to the states of one sentence: filters over windows, the best."""
    answers = []
    for layer in judge.filters:
        ends = [torch.zeros_like(states[0])] * (layer.kernel_size[0] - 1)
        answers.append(torch.relu(layer(torch.stack([*states, *ends], dim=1))).amax(dim=1))
    return judge.out(torch.cat(answers))[0]


def summed(of):
    """The sum over styles of the mean over sentences of ``of(style, words)``."""
    return sum(sum(of(t, sentence) for sentence in words_of(READ[t])) / 3 for t in (0, 1))


def states_of(g, style, words, away):
    """h_t, or h~_t with ``away``."""
    z = encoded(g, words, style)
    if away:
        return freely(g, len(words) + 1, 1 - style, z)[0]
    return log_p(g, words, style, z)[1]


def test_eq_2_is_the_sum_of_the_log_probabilities_of_words():
    g = model().generator
    expected = summed(lambda t, sentence: -log_p(g, sentence, t, encoded(g, sentence, t))[0])
    assert number(losses.reconstruction(passes(g)[0], READ)) == pytest.approx(number(expected))


def test_eq_3_judges_sentences_of_a_style_against_those_transferred_into_it():
    m = model("adversarial")
    g, judges = m.generator, m.discriminators["adversarial"]

    def of(t, sentence):
        real = torch.sigmoid(judged(judges[t], states_of(g, t, sentence, False)))
        fake = torch.sigmoid(judged(judges[1 - t], states_of(g, t, sentence, True)))
        return -math.log(number(real)) - math.log(1 - number(fake))

    assert number(losses.adversarial(judges, *passes(g))) == pytest.approx(summed(of))


def test_eq_4_goes_back_from_the_likeliest_words_and_no_gradient_through_them():
    g = model().generator

    def of(t, sentence):
        h, word, away = torch.cat([g.styles[1 - t], encoded(g, sentence, t)]), BEGIN, []
        for place in range(4):
            h = cell(g.decoder, g.words.weight[word], h)
            possible = [n for n in range(WORDS) if n > END or (n == END and place)]
            word = max(possible, key=g.out(h).tolist().__getitem__)
            if word == END:
                break
            away.append(word)
        return -log_p(g, sentence, t, encoded(g, away, 1 - t))[0]

    loss = losses.cyclic(g, READ, 4)
    assert number(loss) == pytest.approx(number(summed(of)))
    ours, theirs = (torch.autograd.grad(x, [*g.parameters()]) for x in (loss, summed(of)))
    assert all(torch.allclose(a, b) for a, b in zip(ours, theirs, strict=True))


def test_eq_5_writes_the_paraphrase_from_the_sentence_in_its_style():
    g = model().generator
    us, vs = READ, READ[::-1]
    expected = sum(
        -log_p(g, v, t, encoded(g, u, t))[0] / 3
        for t in (0, 1)
        for u, v in zip(words_of(us[t]), words_of(vs[t]), strict=True)
    )
    assert number(losses.paraphrase(g, us, vs)) == pytest.approx(number(expected))


def test_eq_6_crosses_the_other_styles_language_model_up_to_the_end_mark():
    g, models = model().generator, readers()
    with torch.no_grad():
        g.out.bias[END] += 0.4  # some sentences end early, others do not
    ends = set()

    def of(t, sentence):
        _, logits = freely(g, len(sentence) + 1, 1 - t, encoded(g, sentence, t))
        total, before = 0.0, [BEGIN]
        for scores in logits:
            expected = models[1 - t](torch.tensor([before]))[0, -1].softmax(0)
            total = total - (expected.detach() * torch.log_softmax(scores, 0)).sum()
            before.append(int(scores.argmax()))
            ends.add(before[-1] == END)
            if before[-1] == END:
                break
        return total

    expected = number(summed(of))
    assert ends == {True, False}
    assert number(losses.language(models, passes(g)[1])) == pytest.approx(expected)


def test_eq_7_values_a_sentence_against_its_own_transfer_and_its_slope_is_to_be_one():
    m = model("wasserstein")
    g, judges = m.generator, m.discriminators["wasserstein"]

    def of(t, sentence):
        real, fake = (judged(judges[t], states_of(g, t, sentence, away)) for away in (False, True))
        return number(fake - real)

    def penalty(t, n, sentence):
        pairs = zip(*(states_of(g, t, sentence, away) for away in (False, True)), strict=True)
        between = [(EPS[t][n] * a + (1 - EPS[t][n]) * b).detach() for a, b in pairs]
        slopes = jacobian(lambda *states: judged(judges[t], states), tuple(between))
        return (number(torch.cat(slopes).norm()) - 1) ** 2

    assert number(losses.wasserstein(judges, *passes(g))) == pytest.approx(summed(of))
    places = [(t, n, words) for t in (0, 1) for n, words in enumerate(words_of(READ[t]))]
    expected = sum(penalty(*where) for where in places) / 3
    assert number(losses.gradient_penalty(judges, *passes(g), EPS)) == pytest.approx(expected)


def worth(read, written):
    """Long sentences are liked, and what begins as the source does."""
    return written.lengths.double() + 2.0 * (written.ids[:, 0] == read.ids[:, 0])


def rewarded(g):
    torch.manual_seed(7)
    return losses.self_critical(g, READ, 4, worth)


def test_a_reward_makes_drawn_words_likelier_as_far_as_they_beat_the_likeliest():
    g, total = model().generator, 0.0
    torch.manual_seed(7)
    for t in (0, 1):
        drawn, likeliest = (g.transfer(READ[t], t, 1 - t, 4, draw) for draw in (True, False))
        assert drawn.ids.tolist() != likeliest.ids.tolist()
        gains = (worth(READ[t], drawn) - worth(READ[t], likeliest)).tolist()
        pairs = zip(words_of(READ[t]), words_of(drawn), gains, strict=True)
        total += sum(
            -max(0, r) * log_p(g, new, 1 - t, encoded(g, sentence, t))[0] / 3
            for sentence, new, r in pairs
        )
    assert number(rewarded(g)) == pytest.approx(number(total))


LOSSES = {
    "reward": lambda m, *_: rewarded(m.generator),
    "adversarial": lambda m, *both: losses.adversarial(m.discriminators["adversarial"], *both),
    "language": lambda m, followed, other: losses.language(readers(), other),
    "penalty": lambda m, *both: losses.gradient_penalty(
        m.discriminators["wasserstein"], *both, EPS
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_finite_differences(name):
    m = model("adversarial", "wasserstein")
    # the penalty is part of the discriminators' step only
    part = m.discriminators["wasserstein"] if name == "penalty" else m.generator
    loss = lambda *_: LOSSES[name](m, *passes(m.generator))  # noqa: E731
    assert torch.autograd.gradcheck(loss, [*part.parameters()], fast_mode=True)
    loss().backward()
    slopes = [value.grad for value in part.parameters() if value.grad is not None]
    assert any(slope.abs().sum() > 0 for slope in slopes)
