"""The methods that the likelihood benchmark compares, each in a process of its own.

All get the same token ids and the same weights: SmolLM2's, or random ones.  A process answers one
task at a time, so the methods can take turns while each keeps its model loaded.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import measure
import numpy as np

from tstmeta.models import hub
from tstmeta.models.causal import DEFAULT, Continuation, backbone

#: Layers and widths of Llamas: of Llama 3.1 8B, of SmolLM2 135M, and smaller ones.
MODELS: dict[str, dict[str, Any]] = {
    "8b": {
        "vocab_size": 128256,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "tie_word_embeddings": False,
    },
    "135m": {
        "vocab_size": 49152,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "tie_word_embeddings": True,
    },
    "38m": {
        "vocab_size": 49152,
        "hidden_size": 384,
        "intermediate_size": 1024,
        "num_hidden_layers": 12,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
    },
    "tiny": {
        "vocab_size": 512,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
    },
}
#: SmolLM2-135M-Instruct itself.
REAL = "smollm2"
MODELS[REAL] = MODELS["135m"]
OURS, ONE, HARNESS, MINICONS = "tstmeta", "one at a time", "lm-eval", "minicons"
LLAMA_CPP = "llama.cpp"
#: The package that a method needs.
PACKAGES = {HARNESS: "lm_eval", MINICONS: "minicons", LLAMA_CPP: "llama_cpp"}

#: Scores requests in batches of a size: the sum of each one's log-probabilities.
Method = Callable[[Sequence[Continuation], int], list[float]]


class Setup(NamedTuple):
    """The model of all methods; 0 threads = as many as torch takes by itself."""

    model: str
    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 0


class Ran(NamedTuple):
    """What came out of one task.

    Attributes:
        seconds: wall-clock time.
        sums: of each request's log-probabilities.
        above: MiB at the peak above what was in use with the model loaded; None = unknown.
        facts: of the method, such as tokens computed.
    """

    seconds: float
    sums: list[float]
    above: float | None
    facts: dict[str, Any]


class Side:
    """A method in a process of its own; :meth:`wait` for it, then call it to score requests."""

    def __init__(self, name: str, setup: Setup):
        context = multiprocessing.get_context("spawn")
        self.name = name
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far, name, setup), daemon=True)
        self._process.start()
        far.close()

    def __call__(
        self, requests: Sequence[Continuation], batch: int = 0, *, peak_from_here: bool = False
    ) -> Ran:
        """Score requests; the peak of memory is that of all tasks since ``peak_from_here``."""
        self._pipe.send(([tuple(one) for one in requests], batch, peak_from_here))
        return Ran(*self.wait())

    def wait(self) -> Any:
        """What it sends next; at first, when the model is loaded, so that no one is disturbed."""
        try:
            return self._pipe.recv()
        except EOFError:
            raise SystemExit(f"{self.name} crashed. Remedy: uninstall it, or mend it") from None

    def close(self) -> None:
        self._pipe.close()
        self._process.join()


def installed(name: str) -> bool:
    """Whether a method can run here."""
    return name not in PACKAGES or find_spec(PACKAGES[name]) is not None


# ----------------------------------------------------------------------------- in the process


def _serve(pipe: Any, name: str, setup: Setup) -> None:
    """Load the model, then answer tasks until the other end is closed."""
    logging.disable(logging.WARNING)  # peers warn that the model was handed to them
    warnings.simplefilter("ignore")
    import torch

    if setup.threads:
        torch.set_num_threads(setup.threads)
    method, facts = METHODS[name](*loaded(setup), setup)
    before = _start_memory(setup.device)
    pipe.send(name)
    with contextlib.suppress(EOFError):
        while True:
            asked, batch, peak_from_here = pipe.recv()
            if peak_from_here:
                _start_memory(setup.device)
            requests = [Continuation(*one) for one in asked]
            start = time.perf_counter()
            sums = method(requests, batch)
            taken = time.perf_counter() - start
            pipe.send((taken, sums, _above(setup.device, before), facts()))


def loaded(setup: Setup) -> tuple[Any, Any]:
    """A Llama and a tokenizer that reads ``t5 t17`` as the tokens 5 and 17."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        AutoModelForCausalLM,
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    torch.manual_seed(measure.SEED)
    config = LlamaConfig(max_position_embeddings=2048, **MODELS[setup.model])
    default = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, setup.dtype))
    if setup.model == REAL:
        network = hub.weights(backbone(DEFAULT), AutoModelForCausalLM, dtype=setup.dtype)
        model = network.to(setup.device).eval()
    else:
        with torch.device(setup.device):
            model = LlamaForCausalLM(config).eval()
    torch.set_default_dtype(default)
    words = {f"t{number}": number for number in range(config.vocab_size)}
    by_word = Tokenizer(models.WordLevel(words, unk_token="t0"))
    by_word.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    last = f"t{config.vocab_size - 1}"
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=by_word, pad_token=last, eos_token=last, bos_token=last
    )
    return model, tokenizer


def _start_memory(device: str) -> float | None:
    """MiB in use; the peak is counted from here."""
    if device != "cpu":
        import torch

        torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory_allocated() / 2**20
    kib = measure.high_water(reset=True)
    return None if kib is None else kib / 1024


def _above(device: str, before: float | None) -> float | None:
    if device != "cpu":
        import torch

        return torch.cuda.max_memory_allocated() / 2**20 - (before or 0)
    kib = measure.high_water()
    return None if kib is None or before is None else kib / 1024 - before


# -------------------------------------------------------------------------------- the methods

Facts = Callable[[], dict[str, Any]]


def _ours(model: Any, tokenizer: Any, setup: Setup) -> tuple[Method, Facts]:
    from tstmeta.models.engine import Engine

    real = hub.identity(backbone(DEFAULT)) if setup.model == REAL else ""
    engine = Engine(model, tokenizer, real or f"llama-{setup.model}@random")

    def method(requests: Sequence[Continuation], batch: int) -> list[float]:
        engine.computed = 0
        found = {place: values for done in engine.logprobs(requests) for place, values in done}
        return [float(found[place].sum()) for place in range(len(requests))]

    return method, lambda: {"computed": engine.computed, "identity": engine.identity}


def _one(model: Any, tokenizer: Any, setup: Setup) -> tuple[Method, Facts]:
    """A full pass a request and a softmax over all its logits, as the paper's program does."""
    import torch

    def method(requests: Sequence[Continuation], batch: int) -> list[float]:
        sums = []
        with torch.no_grad():
            for context, tokens in requests:
                ids = torch.tensor([[*context, *tokens]], device=model.device)
                values = model(ids).logits[0, :-1].float().log_softmax(-1)[-len(tokens) :]
                sums.append(float(values.gather(1, ids[0, -len(tokens) :, None]).sum()))
        return sums

    return method, dict


def _harness(model: Any, tokenizer: Any, setup: Setup) -> tuple[Method, Facts]:
    from lm_eval.models.huggingface import HFLM

    # a softmax in bfloat16 would round its log-probabilities to sixteenths
    peer = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=1, softmax_dtype="float32")

    def method(requests: Sequence[Continuation], batch: int) -> list[float]:
        peer.batch_size_per_gpu = batch
        asked: Any = [(None, list(one.context), list(one.tokens)) for one in requests]
        found = peer._loglikelihood_tokens(asked, disable_tqdm=True)
        return [total for total, _ in found]

    return method, dict


def _minicons(model: Any, tokenizer: Any, setup: Setup) -> tuple[Method, Facts]:
    """It takes texts, so the ids are written as words of the tokenizer; longest first."""
    from minicons.scorer import IncrementalLMScorer

    peer = IncrementalLMScorer(model, device=setup.device, tokenizer=tokenizer)

    def words(tokens: Sequence[int]) -> str:
        return " ".join(f"t{token}" for token in tokens)

    def method(requests: Sequence[Continuation], batch: int) -> list[float]:
        lengths = [-len(one.context) - len(one.tokens) for one in requests]
        order = np.argsort(lengths, kind="stable")
        sums = [0.0] * len(requests)
        for a in range(0, len(order), batch):
            part = [requests[place] for place in order[a : a + batch]]
            found = peer.conditional_score(
                [words(one.context) for one in part],
                [words(one.tokens) for one in part],
                reduction=lambda values: values.sum().item(),
            )
            for place, total in zip(order[a : a + batch], found, strict=True):
                sums[place] = float(total)
        return sums

    return method, dict


def _llama_cpp(model: Any, tokenizer: Any, setup: Setup) -> tuple[Method, Facts]:
    """The GGUF file in its quantised form; what a request shares with the one before is reused."""
    import torch
    from llama_cpp import Llama
    from scipy.special import log_softmax

    threads = setup.threads or torch.get_num_threads()
    options = {"n_threads": threads, "n_threads_batch": threads, "verbose": False}
    path = str(backbone(DEFAULT).folder)
    peer = Llama(model_path=path, n_ctx=2048, logits_all=True, **options)

    def method(requests: Sequence[Continuation], batch: int) -> list[float]:
        sums, before = [0.0] * len(requests), []
        peer.reset()
        for place in sorted(range(len(requests)), key=lambda place: requests[place]):
            context, tokens = requests[place]
            ids = [*context, *tokens[:-1]]
            equal = [a == b for a, b in zip(before, ids, strict=False)]
            peer.n_tokens = min(equal.index(False) if False in equal else len(equal), len(ids) - 1)
            peer.eval(ids[peer.n_tokens :])
            table = log_softmax(peer.scores[len(context) - 1 : len(ids)], axis=-1)
            sums[place] = float(table[np.arange(len(tokens)), list(tokens)].sum())
            before = ids
        return sums

    return method, dict


METHODS = {
    **{OURS: _ours, ONE: _one, HARNESS: _harness, MINICONS: _minicons},
    LLAMA_CPP: _llama_cpp,
}
