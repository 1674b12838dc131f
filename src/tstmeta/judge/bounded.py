"""Answers that are not read to an end they may not have.

A module of its own, because it needs ``httpx2``, which comes with ``openai``: import it late.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from .protocol import LONGEST_BODY


class TooLong(Exception):
    """A body with more bytes than are read."""


class Bounded(httpx2.AsyncByteStream):
    """The bytes of a response, up to :data:`~.protocol.LONGEST_BODY`.

    They are counted as they come over the wire; we ask for answers that are not compressed.
    """

    def __init__(self, stream: httpx2.AsyncByteStream):
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > LONGEST_BODY:
                raise TooLong
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def bound(response: httpx2.Response) -> None:
    """A hook of the client: bound the body of a response before it is read."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = Bounded(response.stream)
