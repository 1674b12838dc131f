"""Scenes: an event as a source sentence, and its rewrites in a target style, strong and light.

One function a task tells an event at three levels: ``source`` (the first style), ``light`` and
``strong``.  A light rewrite takes the arrangement of its source, a strong one its own; a paraphrase
is the source told again with another arrangement.  A rewrite with an error is the same telling of
another event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from . import phrases
from .draws import Draws
from .events import Event, event, spoil
from .words import feelings, moods, past, rude, third

Level = Literal["source", "light", "strong"]
TASKS = ("sentiment", "detoxify", "catchy", "polite", "persuasive", "formal")
#: More tasks that the model learns; the small world set has the six above.
MORE = ("informal", "simplify")


@dataclass(frozen=True)
class Scene:
    """An event to be told in one task; ``style`` is the wording of the target style."""

    task: str
    style: str
    event: Event
    draws: Draws

    def tell(self, level: Level, event: Event | None = None, arrangement: str = "") -> str:
        """The sentence at a level; ``arrangement`` names another way to say the same."""
        own = self.draws.below("strong" if level == "strong" else f"source{arrangement}")
        text = _TELL[self.task](Telling(self, event or self.event, level, own))
        if self.task in ("formal", "informal") and (level == "strong") == (self.task == "informal"):
            return phrases.lowered(text) if self.draws.chance("lowered", 0.4) else text
        if self.task == "formal" and level == "light" and self.draws.chance("lowered", 0.4):
            return phrases.lowered(text)
        return text

    @property
    def source(self) -> str:
        """The text to rewrite."""
        return self.tell("source")

    def wrong(self, error: str) -> Event | None:
        """The event with one content error of a kind, or None where it has no place for it."""
        return spoil(self.event, error, self.draws.below(error))


class Telling(NamedTuple):
    """All that a task's function needs: what to tell, at which level, with which choices."""

    scene: Scene
    event: Event
    level: Level
    own: Draws

    @property
    def common(self) -> Draws:
        """Choices that all tellings of the scene share."""
        return self.scene.draws

    def pick(self, name: str, options):
        """A choice of this arrangement."""
        return self.own.pick(name, options)

    @property
    def plain(self) -> str:
        """The plain verb, or now and then its synonym: what a paraphrase may change."""
        verb = self.event.verb
        return self.own.pick("synonym", (verb.plain, verb.plain, verb.formal))

    def arranged(self, because: str = "because", front: float = 0.35) -> tuple[str, str]:
        """What stands before the subject (with its comma) and what follows the object."""
        roles = self.event.roles()
        head = ""
        first = [role for role in ("time", "place", "reason") if role in roles]
        # the draw does not depend on which parts are there: an error moves nothing else
        wanted = self.pick("fronted", ("time", "time", "place", "reason"))
        if wanted in first and self.own.chance("front", front):
            head = self.event.text(wanted) + ", "
            roles.remove(wanted)
        if self.own.chance("swap", 0.3) and {"time", "place"} <= set(roles):
            roles = [{"time": "place", "place": "time"}.get(role, role) for role in roles]
        tail = " ".join(["", *(self.event.text(role) for role in roles)])
        return tuple(text.replace("because", because) for text in (head, tail))  # type: ignore[return-value]


def scene(seed: str, task: str, held_out: bool = False, style: str = "") -> Scene:
    """A scene of a task.

    Args:
        seed: names the scene; the same seed gives the same scene everywhere.
        task: one of :data:`TASKS` or :data:`MORE`.
        held_out: words and frames of the held-out side.
        style: the wording of the target style, for instance ``positive`` or ``negative``; drawn
            among the usual wordings when empty.
    """
    draws = Draws(f"{seed}/{task}", held_out)
    roles = _ROLES.get(task, ("company", "purpose", "price", "place", "time", "reason"))
    subject = task not in ("polite", "sentiment") or draws.chance("subject", 0.5)
    style = style or draws.pick("wording", phrases.WORDINGS[task])
    return Scene(task, style, event(draws.below("event"), roles, subject), draws)


_ROLES = {"sentiment": ("company", "purpose", "price", "place", "time")}


# ---------------------------------------------------------------------------------- the tasks


def _sentiment(t: Telling) -> str:
    good = t.scene.style == "positive"
    column = {"source": 0, "light": 1, "strong": 3}[t.level]
    column = column if good else 3 - column
    adjectives = t.common.pick("mood", moods())[column]
    adjective = t.pick("adjective", adjectives)
    feeling = t.common.pick("feeling", feelings())[column]
    what, many = t.event.object, t.event.several
    was, it = ("were", "them") if many else ("was", "it")
    head, tail = t.arranged()
    late = _late(t)
    who = t.event.text("subject")
    very = t.pick("very", phrases.VERY) if t.level == "strong" else ""
    if who:
        forms = [
            f"{head}{who} {past(t.event.verb.plain)} {what}{tail}, and it was {very}{adjective}",
            f"it was {very}{adjective} that {who} {past(t.event.verb.plain)} {what}{late}",
            f"I {feeling} how {who} {past(t.event.verb.plain)} {what}{late}",
        ]
    else:
        forms = [
            f"{head}{what}{tail} {was} {very}{adjective}, and I {feeling} {it}",
            f"I think {what}{late} {was} {very}{adjective}",
            f"I {feeling} {what}{late}, so {very}{adjective}",
            f"{head}I saw {what}{tail}: {very}{adjective}",
        ]
    text = t.pick("form", forms)
    if t.level == "strong" and t.own.chance("closed", 0.5):
        text += t.pick("closer", phrases.HAPPY if good else phrases.UNHAPPY)
    return phrases.sentence(text)


def _detoxify(t: Telling) -> str:
    head, tail = t.arranged()
    who, what, verb = t.event.text("subject"), t.event.object, t.event.verb
    if t.level == "strong":
        opener = t.pick("opener", phrases.REGRET)
        did = past(t.pick("verb", (verb.plain, verb.formal)))
        closer = t.pick("closer", phrases.CALM)
        return phrases.sentence(f"{opener} {head}{who} {did} {what}{tail}{closer}")
    adjective = t.common.pick("rude adjective", rude("adjectives"))
    noun = t.common.pick("rude noun", rude("nouns"))
    insult = f"{adjective} {noun}"
    if t.level == "light":
        insult = t.common.pick("soft", (noun, f"{adjective} person"))
    did, late = past(verb.plain), _late(t)
    forms = [
        f"{head}{who} {did} {what}{tail}, what {phrases.article(insult)}",
        f"{who}, that {insult}, {did} {what}{late}",
        f"only {phrases.article(insult)} like {who} would {verb.plain} {what}{late}",
        f"listen, you {insult}: {head}{who} {did} {what}{tail}",
        f"that {insult} {did} {what}{late}, I mean {who}",
    ]
    return phrases.sentence(t.pick("form", forms))


def _catchy(t: Telling) -> str:
    who, what, verb = t.event.text("subject"), t.event.object, t.event.verb
    head, tail = t.arranged(front=0.6 if t.level == "strong" else 0.3)
    form = t.pick("tense", ("now", "will", "now"))
    if t.level == "strong":
        does = t.pick("verb", (verb.plain, verb.informal))
        does = f"will {does}" if form == "will" else third(does)
        hook, closer = t.pick("hook", phrases.HOOKS), t.pick("closer", phrases.CATCHES)
        body = phrases.capital(f"{head}{who} {does} {what}{tail}")
        shape = t.pick("shape", (0, 1, 2))
        return [f"{hook} {body}: {closer}!", f"{hook} {body}!", f"{body}: {closer}!"][shape]
    act = t.plain
    does = f"will {act}" if form == "will" else third(act)
    body = f"{head}{who} {does} {what}{tail}"
    if t.level == "light":
        opener = t.common.pick("opener", phrases.LOOK)
        return phrases.capital(f"{opener}{body if opener else phrases.capital(body)}!")
    return phrases.sentence(body)


def _polite(t: Telling) -> str:
    who, what, verb = t.event.text("subject"), t.event.object, t.event.verb
    head, tail = t.arranged(front=0.2)
    act = t.pick("verb", (verb.plain, verb.formal)) if t.level == "strong" else t.plain
    order = t.pick("order", ("tell", "ask", "get"))
    do = f"{'ask' if t.level == 'strong' else order} {who} to {act}" if who else act
    if t.level == "strong":
        opener, end = t.pick("opener", phrases.KINDLY)
        closer = t.pick("closer", phrases.THANKS)
        return phrases.capital(f"{opener} {do} {what}{tail if not head else _late(t)}{end}{closer}")
    body = f"{head}{do} {what}{tail}"
    if t.level == "light":
        before, after, end = t.common.pick("please", phrases.PLEASE)
        return phrases.capital(f"{before}{body}{after}{end}")
    return phrases.capital(body) + t.pick("mark", (".", ".", "!"))


def _late(t: Telling) -> str:
    """All adjuncts after the object."""
    return " ".join(["", *(t.event.text(role) for role in t.event.roles())])


def _persuasive(t: Telling) -> str:
    who, what, verb = t.event.text("subject"), t.event.object, t.event.verb
    head, tail = t.arranged()
    if t.level == "strong":
        opener, closer = t.pick("opener", phrases.IMAGINE), t.pick("closer", phrases.NOW)
        core = t.pick("core", ("{} must", "let {}", "{} simply has to", "{} deserves to")).format(
            who
        )
        body = f"{head}{core} {verb.plain} {what}{tail}"
        return f"{opener} {phrases.capital(body)}!{closer}"
    modal = t.common.pick("modal", ("could", "can", "may", "might"))
    if t.level == "light":
        modal = t.common.pick("should", phrases.SHOULD)
    return phrases.sentence(f"{head}{who} {modal} {t.plain} {what}{tail}")


def _formal(t: Telling) -> str:
    return _official(t) if t.level == "strong" else _chatty(t, light=t.level == "light")


def _informal(t: Telling) -> str:
    return _chatty(t) if t.level == "strong" else _official(t, light=t.level == "light")


def _official(t: Telling, light: bool = False) -> str:
    """A formal sentence; ``light`` makes it a little less so."""
    verb, what, who = t.event.verb, t.event.object, t.event.text("subject")
    head, tail = t.arranged(t.pick("reason", ("as", "since", "owing to the fact that")))
    opener = t.pick("opener", phrases.OFFICIAL)
    act = verb.plain if light else verb.formal
    does = f"will {act}" if t.common.chance("future", 0.5) else past(act)
    if light and t.common.chance("short", 0.5):
        opener = "please note that"
    closer = "" if light else t.pick("closer", phrases.YOURS)
    return phrases.sentence(f"{opener} {head}{who} {does} {what}{tail}") + closer


def _chatty(t: Telling, light: bool = False) -> str:
    """An informal sentence; ``light`` mends some of it."""
    verb, what, who = t.event.verb, t.event.object, t.event.text("subject")
    mended = t.common.pick("mended", ("opener", "verb", "all")) if light else ""
    because = t.pick("reason", ("cos", "coz", "bc")) if not light else "because"
    head, tail = t.arranged(because, front=0.2)
    act = verb.plain if mended in ("verb", "all") else verb.informal
    going = t.pick("going", ("'s gonna", " is gonna", "'s going to"))
    going = " is going to" if light else going
    does = f"{going} {act}" if t.common.chance("future", 0.5) else f" {past(act)}"
    opener = "" if mended in ("opener", "all") else t.pick("opener", phrases.CHATTY)
    closer = "" if light else t.pick("closer", phrases.LATER)
    return phrases.capital(f"{opener}{head}{who}{does} {what}{tail}{closer}") + t.pick(
        "mark", (".", "", "!")
    )


def _simplify(t: Telling) -> str:
    verb, what, who = t.event.verb, t.event.object, t.event.text("subject")
    head, tail = t.arranged(t.pick("reason", ("as", "since", "owing to the fact that")))
    if t.level == "strong":
        head, tail = t.arranged(front=0.1)
        return phrases.sentence(f"{head}{who} {past(verb.plain)} {what}{tail}")
    hedge = t.common.pick("hedge", phrases.HEDGES) if t.level == "source" else ""
    return phrases.sentence(f"{hedge}{head}{who} {past(verb.formal)} {what}{tail}")


_TELL: dict[str, Callable[[Telling], str]] = {
    "sentiment": _sentiment,
    "detoxify": _detoxify,
    "catchy": _catchy,
    "polite": _polite,
    "persuasive": _persuasive,
    "formal": _formal,
    "informal": _informal,
    "simplify": _simplify,
}
