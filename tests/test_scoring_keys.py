"""What scoring hashes and what it hands to metrics: stores outlive the code that wrote them."""

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta import scoring
from tstmeta.metrics import Request
from tstmeta.schema import Signature

SIGNATURE = Signature.of("shared", {"basis": "source", "version": "1"})


def plain_key(signature: Signature, unit: Sequence[Request]) -> str:
    """The key by its definition: lengths before texts, then how many were compared with."""
    data = str(signature).encode()
    for request in unit:
        for text in (*request.against, request.output, request.source, request.style):
            encoded = text.encode("utf-8", "surrogatepass")
            data += len(encoded).to_bytes(8, "little") + encoded
        data += f"/{len(request.against)}/{request.language}".encode()
    return hashlib.sha256(data).hexdigest()[:32]


@pytest.mark.parametrize(
    ("unit", "key"),
    [
        ((), "71be982f8eb086f2a7df840912e30b9c"),
        ((Request("", ()),), "297710896dcbd2aa810599ef2b593b70"),
        (
            (Request("An owl.", ("A bird.",), "A bird.", "formal"),),
            "bb85e8f6311d43450cfe95a60e26c8e6",
        ),
        (
            (Request("قطّ 🦉", ("قطّ", ""), "", "", "ar"), Request("b", ("a",))),
            "dc5d0d444c9d201bef520dae7e7d500c",
        ),
    ],
)
def test_a_key_written_once_is_found_again(unit: tuple[Request, ...], key: str):
    assert scoring.key_of(SIGNATURE, unit) == key


texts = st.text(max_size=8) | st.just("\ud800")
requests = st.builds(
    Request, texts, st.lists(texts, max_size=3).map(tuple), texts, texts, st.just("en")
)


@given(st.lists(requests, max_size=3), st.text(max_size=4))
def test_keys_follow_their_definition_in_any_order(unit: list[Request], version: str):
    other = Signature.of("shared", {"version": version})
    for signature in (SIGNATURE, other, SIGNATURE):
        assert scoring.key_of(signature, unit) == plain_key(signature, unit)
