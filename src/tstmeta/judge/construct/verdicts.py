"""Which rows pass, and why others go to a person: the checks put together.

A row passes when no check finds anything.  One with a finding is kept, with the reason, until a
person mends its text, accepts it or rejects it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...data.contrast import Span, format_span, span_of
from . import checks
from .checks import Finding
from .steps import LONGEST

#: The four rewrites of a source, in the order of the contrast set.
CELLS = ("strong", "strong-error", "light", "light-error")
PASSED, ACCEPTED, REJECTED, LOOK = "passed", "accepted", "rejected", "look"
#: Findings that another text of the same row cannot mend.
ELSEWHERE = ("source", "base")


@dataclass(frozen=True)
class Row:
    """One rewrite to be.

    Attributes:
        cell: one of :data:`CELLS`.
        kind: the kind of error of its source.
        output: the rewrite; empty while there is none.
        note: why there is none.
        accept: what a person said: yes, no or nothing.
        made: what the model made of which source, as hashes, so that a person's hand shows.
    """

    source_id: str
    cell: str
    kind: str
    source: str
    output: str = ""
    note: str = ""
    accept: str = ""
    made: str = ""

    def by_model(self, text: str) -> Row:
        """The row with a text of the model."""
        return replace(self, output=text, note="", made=f"{digest(self.source)}-{digest(text)}")

    @property
    def item_id(self) -> str:
        """The id of the rewrite in the data set."""
        return f"{self.source_id}-{self.cell}"


def digest(text: str) -> str:
    """Eight hexadecimal digits that tell one text from another."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]


class Verdict(NamedTuple):
    """What became of a row: passed, accepted, rejected or look (at it, please).

    Attributes:
        span: the error in words, for the label; empty where there is none.
    """

    state: str
    findings: tuple[Finding, ...]
    span: str = ""

    @property
    def counts(self) -> bool:
        """Whether the row may go into the data set."""
        return self.state in (PASSED, ACCEPTED)


class Rules(NamedTuple):
    """What the checks need to know beside the texts.

    Attributes:
        told: runs of words of our prompts.
        generated: whether the model wrote the sources.
    """

    language: str
    told: frozenset[tuple[str, ...]]
    generated: bool


def verdicts(rows: Sequence[Row], rules: Rules) -> dict[tuple[str, str], Verdict]:
    """The verdict on each row, by source and cell.

    Args:
        rows: four a source, in any order.
    """
    sources = {row.source_id: row.source for row in rows}
    same = _duplicates(rows, sources)
    found: dict[tuple[str, str], list[Finding]] = {}
    for row in rows:
        about = list(of_source(row.source, rules))
        about += [Finding("duplicate", same[row.source_id])] if row.source_id in same else []
        found[row.source_id, row.cell] = [Finding("source", str(one)) for one in about]
        found[row.source_id, row.cell] += of_text(row, rules)
        if row.item_id in same:
            found[row.source_id, row.cell].append(Finding("duplicate", same[row.item_id]))
    spans: dict[tuple[str, str], str] = {}
    cells = {(row.source_id, row.cell): row for row in rows}
    for source_id in sources:
        four = {cell: cells[source_id, cell] for cell in CELLS if (source_id, cell) in cells}
        for cell, finding in of_design(four):
            found[source_id, cell].append(finding)
        for cell, span in _spans(four).items():
            spans[source_id, cell] = format_span(span)
        _of_bases(four, {cell: found[source_id, cell] for cell in four})
    return {
        key: Verdict(_state(cells[key], given), tuple(given), spans.get(key, ""))
        for key, given in found.items()
    }


def of_source(source: str, rules: Rules) -> Iterator[Finding]:
    """What is wrong with a source."""
    if len(source) > LONGEST:
        yield Finding("length", f"{len(source)} characters; {LONGEST} at most")
        return
    yield from _told("blank", checks.blank(source))
    yield from _told("length", checks.source_length(source))
    yield from _told("script", checks.script(source, "", rules.language))
    if rules.generated:  # a given source may well talk like this
        yield from _of_answer(source, "", rules)


def of_text(row: Row, rules: Rules) -> Iterator[Finding]:
    """What is wrong with a rewrite, whatever the other rewrites are."""
    text, source = row.output, row.source
    if not text.strip():
        yield Finding("no text", row.note or "there is no text")
        return
    if len(text) > LONGEST:
        yield Finding("length", f"{len(text)} characters; {LONGEST} at most")
        return
    yield from _told("blank", checks.blank(text))
    yield from _of_answer(text, source, rules)
    yield from _told("script", checks.script(text, source, rules.language))
    yield from _told("length", checks.length(text, source))
    yield from _told("copy", checks.copied(text, source))


def _of_answer(text: str, source: str, rules: Rules) -> Iterator[Finding]:
    yield from _told("lines", checks.several_lines(text, source))
    yield from _told("refusal", checks.refusal(text, source))
    yield from _told("talk", checks.meta_talk(text, source))
    yield from _told("fence", checks.fence(text, source))
    yield from _told("prompt", checks.leaked(text, source, rules.told))


def of_design(four: Mapping[str, Row]) -> Iterator[tuple[str, Finding]]:
    """What is wrong with the rewrites of one source beside each other, and the cells it is about.

    Args:
        four: cell -> row.
    """
    if _there(four, "strong", "light"):
        one = four["strong"]
        for finding in _told("shift", checks.shift(one.source, one.output, four["light"].output)):
            yield "strong", finding
            yield "light", finding
    for cell in ("strong", "light"):
        if _there(four, cell, f"{cell}-error"):
            wrong = four[f"{cell}-error"]
            why = checks.error(four[cell].output, wrong.output, wrong.kind)
            for finding in _told("error", why):
                yield f"{cell}-error", finding
    spans = _spans(four)
    if len(spans) == 2:
        why = checks.same_error(spans["light-error"], spans["strong-error"])
        for finding in _told("same error", why):
            yield "strong-error", finding


def _spans(four: Mapping[str, Row]) -> dict[str, Span]:
    """The edit that made each error, where there is one."""
    made = {
        f"{cell}-error": span_of(four[cell].output, four[f"{cell}-error"].output)
        for cell in ("strong", "light")
        if _there(four, cell, f"{cell}-error")
    }
    return {cell: span for cell, span in made.items() if any(span)}


def _of_bases(four: Mapping[str, Row], found: Mapping[str, list[Finding]]) -> None:
    """An error row stands on its rewrite without error, and the strong one on the light one."""
    for cell, base in (
        ("light-error", "light"),
        ("strong-error", "strong"),
        ("strong-error", "light-error"),
    ):
        if cell in four and base in four and _state(four[base], found[base]) in (LOOK, REJECTED):
            found[cell].append(Finding("base", f"the {base} rewrite did not pass"))


def _state(row: Row, findings: Sequence[Finding]) -> str:
    if row.accept == "no":
        return REJECTED
    if row.accept == "yes" and findings and checks.words(row.output):
        return ACCEPTED
    return LOOK if findings else PASSED


def _there(four: Mapping[str, Row], *cells: str) -> bool:
    return all(cell in four and 0 < len(four[cell].output.strip()) <= LONGEST for cell in cells)


def _told(check: str, why: str) -> Iterator[Finding]:
    if why:
        yield Finding(check, why)


def _duplicates(rows: Sequence[Row], sources: Mapping[str, str]) -> dict[str, str]:
    """Texts that came before: id of a source or of a rewrite -> reason."""
    texts = [(name, text) for name, text in sources.items() if len(text) <= LONGEST]
    found = checks.duplicates(texts)
    texts = [(row.item_id, row.output) for row in rows if len(row.output) <= LONGEST]
    return found | checks.duplicates(texts)
