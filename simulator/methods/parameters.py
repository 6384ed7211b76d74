"""Methods with other values of the parameters that their functions declare: ``base_cut:alpha=0.05``."""

from __future__ import annotations

import inspect
import math
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any

from simulator.methods.processor import PostProcessor


def parameters_of(method: PostProcessor) -> dict[str, Any]:
    """Return the keyword-only parameters of the function of a method, and their defaults."""
    parameters = inspect.signature(method.function).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


@lru_cache(maxsize=256)
def with_parameters(method: PostProcessor, settings: str) -> PostProcessor:
    """Return a method with the values of some of its parameters, ``"alpha=0.05:keep=20"``; its name has them too.

    A value is of the type of the default: a number above 0, a member of an enumeration of words, or a text.

    Raises ValueError if the method has no such parameter, or it has no such value.
    """
    defaults, given = parameters_of(method), dict[str, Any]()
    for part in settings.split(":"):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in defaults or name in given:
            has = f"has {', '.join(f'{known}=…' for known in defaults)}" if defaults else "has no parameters"
            raise ValueError(f"method {method.name} {has}, got {part!r}")
        given[name] = _read(f"{name} of {method.name}", value, type(defaults[name]))
    changed = {name: given[name] for name in defaults if name in given and given[name] != defaults[name]}
    if not changed:
        return method
    words = [f"{name}={value if isinstance(value, str) else f'{value:.12g}'}" for name, value in changed.items()]
    name, title = ":".join([method.name, *words]), " ".join([method.title.partition(" (")[0], *words])
    return replace(method, name=name, title=title, function=partial(method.function, **changed), short="", aliases=())


def _read(name: str, text: str, kind: type[Any]) -> Any:
    with suppress(TypeError, ValueError):
        value = kind(text)
        if isinstance(value, str) or 0 < value < math.inf:
            return value
    allowed = f"one of {', '.join(kind)}" if issubclass(kind, StrEnum) else f"a number above 0 ({kind.__name__})"
    raise ValueError(f"{name} must be {allowed}, got {text!r}")
