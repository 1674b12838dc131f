"""What the styles of the small world sound like: openers, closers and small repairs of text."""

from __future__ import annotations

#: Usual wordings of the target style a task.
WORDINGS = {
    "sentiment": ("positive", "negative"),
    "detoxify": ("non-toxic", "detoxified", "appropriated", "appropriate", "neutral"),
    "catchy": ("catchy", "catchy", "memorable"),
    "polite": ("polite", "polite", "courteous"),
    "persuasive": ("persuasive", "persuasive", "convincing"),
    "formal": ("formal", "formal", "official"),
    "informal": ("informal", "informal", "casual"),
    "simplify": ("simplified", "simple", "understandable for layman"),
}
VERY = ("", "absolutely ", "simply ", "truly ", "utterly ")
HAPPY = (", a real joy", ", what a treat", "; I could not be happier", ", pure bliss", "; bravo")
UNHAPPY = (", a real pity", ", what a mess", "; I could not be angrier", ", pure misery", "; shame")
REGRET = (
    "unfortunately,",
    "I am sorry to say that",
    "it is a pity that",
    "regrettably,",
    "I was surprised that",
    "sadly,",
    "I do not quite understand why",
    "it bothers me that",
)
CALM = ("", "", ", which is not ideal", ", and I would like to talk about it", ", I am afraid")
HOOKS = (
    "Ready, steady, go!",
    "Stop the clock!",
    "Roll up, roll up!",
    "Hip hip hooray!",
    "Rise and shine!",
    "Knock, knock!",
    "Wow, oh wow!",
    "Spread the word!",
    "Hold on to your hats!",
    "Here comes the fun!",
)
CATCHES = (
    "come one, come all",
    "be there or be square",
    "you snooze, you lose",
    "grab it while it's hot",
    "fun for everyone",
    "the more, the merrier",
    "too good to miss",
    "easy as pie",
    "seize the day",
    "a treat that can't be beat",
)
LOOK = ("don't miss it: ", "good news: ", "guess what: ", "look out: ", "yes, ", "", "hurry: ")
KINDLY = (
    ("would you be so kind as to", "?"),
    ("could you possibly", "?"),
    ("might I ask you to", "?"),
    ("I would be most grateful if you could", "."),
    ("would it be possible for you to", "?"),
    ("if it is not too much trouble, could you kindly", "?"),
    ("we would very much appreciate it if you could", "."),
    ("would you mind terribly if I asked you to", "?"),
)
THANKS = (
    "",
    " Thank you very much.",
    " Many thanks in advance.",
    " I would really appreciate it.",
    " Thank you so much for your help.",
)
PLEASE = (
    ("please ", "", "."),
    ("", ", please", "."),
    ("could you ", "", "?"),
    ("can you ", "", "?"),
    ("perhaps ", "", "."),
    ("sorry, but ", "", "."),
)
IMAGINE = (
    "Why wait any longer?",
    "Just imagine!",
    "Think about it.",
    "Isn't it time to act?",
    "Ask yourself what is at stake.",
    "There is no better moment.",
    "Who could say no?",
    "Enough is enough.",
)
NOW = (
    "",
    " Nobody can afford to miss it!",
    " You will never regret it!",
    " It is now or never!",
    " Together we can do it!",
    " Don't let the chance pass by!",
)
SHOULD = ("really should", "definitely should", "ought to", "surely must", "really can", "must")
OFFICIAL = (
    "please be advised that",
    "I am writing to inform you that",
    "this is to confirm that",
    "kindly note that",
    "we wish to inform you that",
    "it has come to our attention that",
    "may I inform you that",
)
YOURS = ("", "", " We thank you for your understanding.", " Yours faithfully.")
CHATTY = ("hey, ", "so ", "yo, ", "btw ", "guess what, ", "", "ugh, ", "lol ", "ok so ", "oh man, ")
LATER = ("", "", " lol", ", just so u know", ", ok?", ", cheers", " haha", ", no kidding")
HEDGES = (
    "it should be noted that ",
    "in this regard, ",
    "as a matter of fact, ",
    "to all intents and purposes, ",
    "with respect to the aforementioned, ",
    "it is apparent that ",
)


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """The text with a capital first letter and a full stop."""
    return capital(text) + "."


def lowered(text: str) -> str:
    """The text as people type in a hurry: no capitals."""
    return text.lower()


def article(noun: str) -> str:
    """The noun with its indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
