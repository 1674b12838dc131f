"""Which rewrites pass, and why others wait for a person: from texts to reasons.

A check gives a reason, empty when all is well.  None can tell whether an error changes what a text
says, or whether a rewrite has the style: raters do.  Bounds were set on the contrast set and on the
set of Pauli et al. (2025), which people wrote or checked.  Words are runs between blanks, compared
without case and outer punctuation.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd
from rapidfuzz.distance import Levenshtein, Postfix, Prefix

#: The four rewrites of a source, in the order of the contrast set.
CELLS = ("strong", "strong-error", "light", "light-error")
#: The order in which they are judged, and the rewrites that must have passed before.
ORDER = ("strong", "light", "light-error", "strong-error")
BASES = {"light-error": ["strong", "light"], "strong-error": ["strong", "light-error"]}
VERDICTS = PASSED, ACCEPTED, REJECTED, LOOK = "passed", "accepted", "rejected", "look"
#: Most words that an error takes out or puts in; the contrast set has no longer one.
ERROR_WORDS = 6
#: Words of a source, at least and at most; and of a rewrite for each of its source: 98 % of the set
#: of Pauli et al. (2025) are within.  A difference of ``SLACK`` words is never too much.
SOURCE_WORDS, LENGTH_RATIO, SLACK = (3, 60), (0.5, 3.0), 5
#: Characters of the longest rewrite.
LONGEST = 5000


def judge(table: pd.DataFrame) -> pd.DataFrame:
    """The table of :func:`.run.begin` with ``verdict`` (look: a person should), ``findings`` (check
    -> reason) and ``span`` (the error in words, for the label) of each row.
    """
    judged: dict[str, tuple[str, dict[str, str], str]] = {}
    for _, group in table.reset_index().groupby("source_id", sort=False):
        rows = group.set_index("system").to_dict("index")
        texts = {cell: row["output"] for cell, row in rows.items()}
        texts = {cell: text for cell, text in texts.items() if 0 < len(text) <= LONGEST}
        source_why = source_length(rows["strong"]["source"])
        verdicts: dict[str, str] = {}
        for cell in ORDER:
            row = rows[cell]
            findings = {"source": source_why}
            findings |= text_faults(row["output"], row["source"], row["note"])
            findings |= design_faults(cell, texts, row["source"], row["kind"])
            for base in BASES.get(cell, []):
                if verdicts[base] in (LOOK, REJECTED):
                    findings["base"] = f"the {base} rewrite did not pass"
            findings = {check: why for check, why in findings.items() if why}
            verdicts[cell] = LOOK if findings else PASSED
            if row["accept"] == "no":
                verdicts[cell] = REJECTED
            elif row["accept"] == "yes" and findings and words(row["output"]):
                verdicts[cell] = ACCEPTED
            judged[row["item_id"]] = (verdicts[cell], findings, format_span(_span(cell, texts)))
    columns = ["verdict", "findings", "span"]
    return table.assign(**pd.DataFrame.from_dict(judged, orient="index", columns=columns))


def source_length(source: str) -> str:
    """A source that is too short, or too long."""
    low, high = SOURCE_WORDS
    count = len(words(source))
    return "" if low <= count <= high else f"length: {count} words, not {low} to {high}"


def text_faults(text: str, source: str, note: str = "") -> dict[str, str]:
    """What is wrong with a rewrite by itself; ``note`` says why there is none."""
    if not words(text):
        return {"no text": note or "there is none"}
    several = "\n" in text.strip() and "\n" not in source.strip()
    return {
        "lines": "several lines where the source has one" if several else "",
        "talk": phrase(text, source, "talk about the task", _TALK),
        "fence": phrase(text, source, "a mark of the prompt", _FENCE),
        "length": length(text, source),
        "copy": "the same words as the source" if plain(text) == plain(source) else "",
    }


def design_faults(cell: str, texts: Mapping[str, str], source: str, kind: str) -> dict[str, str]:
    """What is wrong with a rewrite beside the others of its source, as far as there are any."""
    base = cell.removesuffix("-error")
    if cell == base:
        both = {"strong", "light"} <= set(texts)
        return {"shift": shift(source, texts["strong"], texts["light"]) if both else ""}
    if not {cell, base} <= set(texts):
        return {}
    findings = {"error": error(texts[base], texts[cell], kind)}
    light, strong = _span("light-error", texts), _span("strong-error", texts)
    differ = [*map(plain, light)] != [*map(plain, strong)]
    if cell == "strong-error" and any(light) and any(strong) and differ:
        edits = f"{format_span(light)} in the light rewrite, {format_span(strong)} in the strong"
        findings["same error"] = edits
    return findings


class Span(NamedTuple):
    """The one edit that made a content error: words taken out and words put in."""

    removed: str
    added: str


def span_of(right: str, wrong: str) -> Span:
    """The one contiguous edit that turns ``right`` into ``wrong``, in whole words.

    A comma may move with a deleted phrase.  Of edits that do the same the first is taken, which
    begins a phrase: "for Ben" in "a cap for Ben for Ida".
    """
    before, after = right.split(), wrong.split()
    a, b = [_bare(word) for word in before], [_bare(word) for word in after]
    shorter, longer = sorted((a, b), key=len)
    head = Prefix.similarity(a, b)
    tail = Postfix.similarity(a[head:], b[head:])
    if len(shorter) < len(longer) and head + tail == len(shorter):
        while head and longer[head - 1] == longer[-1 - tail]:
            head, tail = head - 1, tail + 1
    changed = (side[head : len(side) - tail] for side in (before, after))
    return Span(*map(" ".join, changed))


def format_span(span: Span) -> str:
    """Write a span in the notation of wdiff."""
    removed = f"[-{span.removed}-]" if span.removed else ""
    return removed + (f"{{+{span.added}+}}" if span.added else "")


def _span(cell: str, texts: Mapping[str, str]) -> Span:
    """The edit that made the error of a rewrite; empty where there is none."""
    base = cell.removesuffix("-error")
    return span_of(texts[base], texts[cell]) if {cell, base} <= set(texts) else Span("", "")


#: What models say before or after a rewrite.
_TALK = re.compile(
    r"^\W{0,9}(sure|certainly|of course|okay)[,.!:]|^\W{0,9}(here('s| is| are)\b|note:)"
    r"|^[^:\n]{1,80}:\s*(\n|[\"“„«])"  # a short opening line, in any language
    r"|\bas an? (ai|(large )?language model)\b|\bi('m| am) sorry,? but i (can('|no)t|am unable)"
    r"|\bi('ve| have)? (rewritten|rewrote|revised|kept the)\b"
    r"|\bi (can('|no)t|won't|am unable to) (help|assist|comply|rewrite|do (this|that))\b"
    r"|\brewritten (text|sentence|version)\b",
    re.I | re.M,
)
_FENCE = re.compile(r"={4,}|`{3,}|~{4,}|<{3,}|>{3,}|<\|\w|\|>|</?(text|source|data|output)\b", re.I)
_OUTER = re.compile(r"^\W+|\W+$")


def _bare(word: str) -> str:
    return _OUTER.sub("", word).lower()


def words(text: str) -> list[str]:
    """Words as they are compared: lower case, no outer punctuation, none empty."""
    return list(filter(None, map(_bare, text.split())))


def plain(text: str) -> str:
    """A text as it is compared."""
    return " ".join(words(text))


def phrase(text: str, source: str, what: str, pattern: re.Pattern[str]) -> str:
    """The first words of a text in a pattern that its source does not have."""
    match, in_source = (pattern.search(t.replace("’", "'")) for t in (text, source))
    return f"{what}: {match.group().strip()!r}" if match and not in_source else ""


def length(text: str, source: str) -> str:
    """Much shorter or longer than its source."""
    if len(text) > LONGEST:
        return f"{len(text)} characters; {LONGEST} at most"
    count, usual = len(text.split()), len(source.split())
    low, high = LENGTH_RATIO
    near = abs(count - usual) <= SLACK or low * usual <= count <= high * usual
    return "" if near else f"{count} words where the source has {usual}"


def shift(source: str, strong: str, light: str) -> str:
    """The strong rewrite must be further from the source than the light one, in edits of words."""
    distance = Levenshtein.normalized_distance
    far, near = (distance(words(source), words(text)) for text in (strong, light))
    if far > near:
        return ""
    return f"the strong rewrite changes {far:.0%} of the words and the light one {near:.0%}"


def places(right: str, wrong: str) -> int:
    """In how many places words differ; one unchanged word between two changes joins them."""
    removed, added = (words(part) for part in span_of(right, wrong))
    codes = Levenshtein.opcodes(removed, added)
    gaps = [code.src_end - code.src_start for code in codes if code.tag == "equal"]
    return 1 + sum(gap > 1 for gap in gaps)


def error(right: str, wrong: str, kind: str) -> str:
    """The announced error is there, and it is the only one; ``right`` is the text without it."""
    span = span_of(right, wrong)
    if not any(span):
        return f"no {kind}: no word differs from the rewrite without error"
    if (count := places(right, wrong)) > 1:
        return f"words differ in {count} places; an error is in one"
    size = max(len(part.split()) for part in span)
    if size > ERROR_WORDS:
        return f"{size} words in a row differ; an error has {ERROR_WORDS} at most"
    actual = "substitution" if all(span) else "deletion" if span.removed else "insertion"
    return "" if actual == kind else f"a {actual} where a {kind} was wanted"
