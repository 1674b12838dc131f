"""The settings in a metric's name, ``bertscore:p+layer9+roberta-large``, words joined by ``+``.

A word is ``key=value``, or shorter where that says as much: ``p`` for ``part=p``.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ..models.causal import Backbone, backbone
from ..schema import TstmetaError

#: What stands between words; two signs in a row are of a path.
SEPARATOR = re.compile(r"(?<=[^+])\+(?=[^+])")


class Short(NamedTuple):
    """A short word: its pattern, and the value it stands for, itself by default."""

    pattern: str
    value: str = r"\g<0>"


def existing(name: str, info: ValidationInfo) -> Path:
    """The file that a setting names; an error where there is none."""
    path = Path(name).expanduser()
    if not path.is_file():
        raise TstmetaError(f"{info.field_name}={name} names {str(path)!r}, which is no file")
    return path


#: The type of a setting that names a file.
File = Annotated[Path | None, BeforeValidator(existing), Field(description="FILE")]


class MetricSettings(BaseModel, extra="forbid"):
    """The settings of a metric, each with a default.

    A value of a ``Literal`` stands for itself, and what is annotated with :class:`Short` for its
    field.
    """

    #: The key of all other words; empty: there must be none.
    default_key: ClassVar[str] = ""

    @classmethod
    def read(cls, text: str, models: Mapping[str, Backbone] | None = None) -> Self:
        """The settings of a text; ``models`` are those that have a name."""
        pairs: dict[str, str] = {}
        for word in filter(None, SEPARATOR.split(text)):
            key, value = cls.pair(word)
            if not key:
                raise TstmetaError(f"{word!r} names no setting: use {cls.described()}")
            if key in pairs and key in cls.model_fields and key != cls.default_key:
                raise TstmetaError(f"{text!r} sets {key} twice")
            # a + may be a part of a path; what is no field may have several values
            pairs[key] = f"{pairs[key]}+{value}" if key in pairs else value
        try:
            return cls.model_validate(pairs, context=models or {})
        except ValidationError as error:
            key = str(error.errors()[0]["loc"][0])
            words = f"{key}={pairs[key]} is no setting: use {cls.described()}"
            raise TstmetaError(words) from None

    @classmethod
    def pair(cls, word: str) -> tuple[str, str]:
        """The key and the value of a word."""
        key, equals, value = word.partition("=")
        free = cls.model_config["extra"] == "allow" and "/" not in key  # else a path or a URL
        if equals and (free or key in cls.model_fields):
            return key, value
        for key, field in cls.model_fields.items():
            if word in get_args(field.annotation):
                return key, word
            for short in field.metadata:
                if isinstance(short, Short) and (match := re.fullmatch(short.pattern, word)):
                    return key, match.expand(short.value)
        return cls.default_key, word

    @classmethod
    def described(cls) -> str:
        """What can be set, for messages: ``part=p|r|f1, layer=N``."""
        return ", ".join(
            f"{key}={field.description or '|'.join(map(str, get_args(field.annotation)))}"
            for key, field in cls.model_fields.items()
        )


class ModelSettings(MetricSettings):
    """A model: by its name here, by ``hub/id`` or ``hub/id@revision``, or a folder."""

    default_key = "model"
    model: Annotated[Backbone | None, Field(description="MODEL")] = None

    @field_validator("model", mode="before")
    @classmethod
    def _named(cls, name: str, info: ValidationInfo) -> Backbone:
        models: Mapping[str, Backbone] = info.context or {}
        try:
            return models.get(name) or backbone(name)
        except TstmetaError:
            known = ", ".join([*models, "an id such as owner/name@revision", "or a folder"])
            words = f"{name!r} names no setting and no model: use {cls.described()}"
            raise TstmetaError(f"{words}; MODEL is {known}") from None
