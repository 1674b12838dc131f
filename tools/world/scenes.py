"""Scenes: an event as a source sentence, and its rewrites in a target style, strong and light.

One function a task tells an event at three levels: ``source`` (the first style), ``light`` and
``strong``.  A light rewrite takes the arrangement of its source, a strong one its own; a paraphrase
is the source told again in another arrangement.  A rewrite with an error is the same telling of
another event.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .events import ADJUNCTS, Event, event, spoil
from .words import PHRASES, WORDS, Choices, every, past, third

Level = Literal["source", "light", "strong"]
LEVELS: tuple[Level, ...] = ("source", "light", "strong")
#: Task -> usual wordings of its target style.
WORDINGS: dict[str, list[str]] = PHRASES["wordings"]
#: Tasks of the small world set, and all that the models learn.
TASKS = ("sentiment", "detoxify", "catchy", "polite", "persuasive", "formal")
ALL_TASKS = (*TASKS, "informal", "simplify")
_MAY = ("could", "can", "may", "might")
_STIFF = ("as", "since", "owing to the fact that")


@dataclass(frozen=True)
class Scene:
    """An event to be told in one task; ``style`` is the wording of the target style."""

    task: str
    style: str
    event: Event
    draws: Choices

    def tell(self, level: Level, event: Event | None = None, arrangement: str = "") -> str:
        """The sentence at a level; ``arrangement`` names another way to say the same."""
        choices = self.draws.below("strong" if level == "strong" else f"source{arrangement}")
        text = _TELL[self.task](Telling(self, event or self.event, level, choices))
        chatty = {"formal": ("source", "light"), "informal": ("strong",)}.get(self.task, ())
        # in a hurry, people type without capitals
        return text.lower() if level in chatty and self.draws.chance("lowered", 0.4) else text

    @property
    def source(self) -> str:
        return self.tell("source")

    def wrong(self, error: str) -> Event | None:
        return spoil(self.event, error, self.draws.below(error))


def scene(seed: str, task: str, held_out: bool = False, style: str = "") -> Scene:
    """The scene of a seed in a task; ``style`` is by default one of the usual wordings."""
    draws = Choices(f"{seed}/{task}", held_out)
    roles = tuple(role for role in ADJUNCTS if (task, role) != ("sentiment", "reason"))
    subject = task not in ("polite", "sentiment") or draws.chance("subject", 0.5)
    style = style or draws.pick("wording", WORDINGS[task])
    return Scene(task, style, event(draws.below("event"), roles, subject), draws)


@dataclass(frozen=True)
class Telling:
    """What to tell, at which level, with which choices."""

    scene: Scene
    event: Event
    level: Level
    choices: Choices  # of this arrangement; those of the scene are shared by all its tellings

    @property
    def who(self) -> str:
        return self.event.text("subject")

    def pick(self, name: str, options: str | Sequence[str]) -> str:
        """A choice of this arrangement; a string names phrases."""
        return self.choices.pick(name, _options(options))

    def shared(self, name: str, options: str | Sequence[str]) -> str:
        return self.scene.draws.pick(name, _options(options))

    def either(self, name: str) -> str:
        """The plain or the formal verb."""
        return self.pick(name, (self.event.verb.plain, self.event.verb.formal))

    def synonym(self) -> str:
        """The plain verb, or now and then the formal one: what a paraphrase may change."""
        verb = self.event.verb
        return self.pick("synonym", (verb.plain, verb.plain, verb.formal))

    def arranged(self, because: str = "because", front: float = 0.35) -> tuple[str, str]:
        """What stands before the subject (with its comma) and what follows the object."""
        roles = self.event.roles()
        head = ""
        # the draw does not depend on which adjuncts there are: an error moves nothing else
        wanted = self.pick("fronted", ("time", "time", "place", "reason"))
        if wanted in roles and self.choices.chance("front", front):
            head = self.event.text(wanted) + ", "
            roles.remove(wanted)
        if self.choices.chance("swap", 0.3) and {"time", "place"} <= set(roles):
            roles = [{"time": "place", "place": "time"}.get(role, role) for role in roles]
        return head.replace("because", because), self._joined(roles).replace("because", because)

    def late(self) -> str:
        return self._joined(self.event.roles())

    def _joined(self, roles: Sequence[str]) -> str:
        return " ".join(["", *(self.event.text(role) for role in roles)])


def _options(options: str | Sequence[str]) -> Sequence[str]:
    return PHRASES["phrases"][options] if isinstance(options, str) else options


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    return capital(text) + "."


# ---------------------------------------------------------------------------------- the tasks


def _sentiment(t: Telling) -> str:
    good = t.scene.style == "positive"
    column = {"source": 0, "light": 1, "strong": 3}[t.level]
    column = column if good else 3 - column
    head, tail = t.arranged()
    was, it = ("were", "them") if t.event.several else ("was", "it")
    text = t.pick("form", PHRASES["forms"]["liked action" if t.who else "liked thing"]).format(
        **{"head": head, "tail": tail, "late": t.late(), "was": was, "it": it},
        **{"who": t.who, "did": past(t.event.verb.plain), "what": t.event.object},
        very=t.pick("very", "very") if t.level == "strong" else "",
        adjective=t.pick("adjective", t.shared("mood", WORDS["moods"])[column]),
        feeling=t.shared("feeling", WORDS["feelings"])[column],
    )
    if t.level == "strong" and t.choices.chance("closed", 0.5):
        text += t.pick("closer", "happy" if good else "unhappy")
    return sentence(text)


def _detoxify(t: Telling) -> str:
    head, tail = t.arranged()
    verb, what = t.event.verb, t.event.object
    if t.level == "strong":
        opener, closer = t.pick("opener", "regret"), t.pick("closer", "calm")
        return sentence(f"{opener} {head}{t.who} {past(t.either('verb'))} {what}{tail}{closer}")
    adjective = t.shared("rude adjective", every("rude_adjectives"))
    noun = t.shared("rude noun", every("rude_nouns"))
    soft = t.shared("soft", (noun, f"{adjective} person"))
    insult = soft if t.level == "light" else f"{adjective} {noun}"
    text = t.pick("form", PHRASES["forms"]["insult"]).format(
        **{"head": head, "tail": tail, "late": t.late(), "who": t.who, "what": what},
        **{"did": past(verb.plain), "plain": verb.plain},
        **{"insult": insult, "an_insult": f"{'an' if insult[0] in 'aeiou' else 'a'} {insult}"},
    )
    return sentence(text)


def _catchy(t: Telling) -> str:
    verb, strong = t.event.verb, t.level == "strong"
    head, tail = t.arranged(front=0.6 if strong else 0.3)
    act = t.pick("verb", (verb.plain, verb.informal)) if strong else t.synonym()
    does = f"will {act}" if t.pick("tense", ("now", "will", "now")) == "will" else third(act)
    body = f"{head}{t.who} {does} {t.event.object}{tail}"
    if strong:
        return t.pick("shape", PHRASES["forms"]["slogan"]).format(
            hook=t.pick("hook", "hooks"), body=capital(body), closer=t.pick("closer", "catches")
        )
    if t.level == "light":
        return capital(f"{t.shared('opener', 'look')}{body}!")
    return sentence(body)


def _polite(t: Telling) -> str:
    what = t.event.object
    head, tail = t.arranged(front=0.2)
    if t.level == "strong":
        act = t.either("verb")
        do = f"ask {t.who} to {act}" if t.who else act
        opener, end = t.pick("opener", "kindly")
        adjuncts = t.late() if head else tail
        return capital(f"{opener} {do} {what}{adjuncts}{end}{t.pick('closer', 'thanks')}")
    act = t.synonym()
    do = f"{t.pick('order', ('tell', 'ask', 'get'))} {t.who} to {act}" if t.who else act
    body = f"{head}{do} {what}{tail}"
    if t.level == "light":
        before, after, end = t.shared("please", "please")
        return capital(f"{before}{body}{after}{end}")
    return capital(body) + t.pick("mark", (".", ".", "!"))


def _persuasive(t: Telling) -> str:
    what = t.event.object
    head, tail = t.arranged()
    if t.level == "strong":
        must = t.pick("core", PHRASES["forms"]["must"]).format(t.who)
        body = capital(f"{head}{must} {t.event.verb.plain} {what}{tail}")
        return f"{t.pick('opener', 'imagine')} {body}!{t.pick('closer', 'now')}"
    light = t.level == "light"
    modal = t.shared("should", "should") if light else t.shared("modal", _MAY)
    return sentence(f"{head}{t.who} {modal} {t.synonym()} {what}{tail}")


def _official(t: Telling, light: bool = False) -> str:
    """A formal sentence; ``light`` makes it a little less so."""
    head, tail = t.arranged(t.pick("reason", _STIFF))
    opener = t.pick("opener", "official")
    act = t.event.verb.plain if light else t.event.verb.formal
    does = f"will {act}" if t.scene.draws.chance("future", 0.5) else past(act)
    if light and t.scene.draws.chance("short", 0.5):
        opener = "please note that"
    closer = "" if light else t.pick("closer", "yours")
    return sentence(f"{opener} {head}{t.who} {does} {t.event.object}{tail}") + closer


def _chatty(t: Telling, light: bool = False) -> str:
    """An informal sentence; ``light`` mends some of it."""
    verb = t.event.verb
    mended = t.shared("mended", ("opener", "verb", "all")) if light else ""
    because = "because" if light else t.pick("reason", ("cos", "coz", "bc"))
    head, tail = t.arranged(because, front=0.2)
    act = verb.plain if mended in ("verb", "all") else verb.informal
    going = t.pick("going", ("'s gonna", " is gonna", "'s going to"))
    going = " is going to" if light else going
    does = f"{going} {act}" if t.scene.draws.chance("future", 0.5) else f" {past(act)}"
    opener = "" if mended in ("opener", "all") else t.pick("opener", "chatty")
    closer = "" if light else t.pick("closer", "later")
    body = capital(f"{opener}{head}{t.who}{does} {t.event.object}{tail}{closer}")
    return body + t.pick("mark", (".", "", "!"))


def _simplify(t: Telling) -> str:
    verb, what = t.event.verb, t.event.object
    if t.level == "strong":
        head, tail = t.arranged(front=0.1)
        return sentence(f"{head}{t.who} {past(verb.plain)} {what}{tail}")
    head, tail = t.arranged(t.pick("reason", _STIFF))
    hedge = t.shared("hedge", "hedges") if t.level == "source" else ""
    return sentence(f"{hedge}{head}{t.who} {past(verb.formal)} {what}{tail}")


_TELL: dict[str, Callable[[Telling], str]] = {
    **{"sentiment": _sentiment, "detoxify": _detoxify, "catchy": _catchy, "polite": _polite},
    **{"persuasive": _persuasive, "simplify": _simplify},
    "formal": lambda t: _official(t) if t.level == "strong" else _chatty(t, t.level == "light"),
    "informal": lambda t: _chatty(t) if t.level == "strong" else _official(t, t.level == "light"),
}
