"""``ldp-advise epsilon``: what ε means, and ε from what other systems state."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from advisor.cli.options import format_for, option
from advisor.numerals import real_number, whole_number

Text = str | None


def epsilon_command(
    eps: Annotated[Text, option("--eps", "-e", metavar="ε", help="the budget itself: what does it mean?")] = None,
    flip_prob: Annotated[
        Text, option("--flip-prob", metavar="X", help="probability that a bit (grr: the value) is reported wrong")
    ] = None,
    random_prob: Annotated[
        Text, option("--random-prob", metavar="R", help="for grr: probability of a value drawn evenly from all")
    ] = None,
    odds: Annotated[Text, option("--odds", metavar="X", help="largest ratio of the probabilities of a report")] = None,
    p: Annotated[
        Text, typer.Option("--p", metavar="P", help="probability of a 1 in the own bit", show_default=False)
    ] = None,
    q: Annotated[
        Text, typer.Option("--q", metavar="Q", help="probability of a 1 in another bit", show_default=False)
    ] = None,
    protocol: Annotated[
        Text, typer.Option("--protocol", "-p", metavar="NAME", help="grr, rappor, oue, …", show_default=False)
    ] = None,
    k: Annotated[Text, option("--k", metavar="N", help="number of categories")] = None,
    output_format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="table, json or value")] = "table",
) -> None:
    """Say what ε means in words, or convert what another system states into ε (by replacement and by removal)."""
    from advisor.epsilon import answer as meaning

    chosen = format_for(output_format, None, ("table", "json", "value"))
    size = whole_number("k", k)
    converted = meaning.convert(
        epsilon=real_number("eps", eps),
        flip_prob=real_number("flip-prob", flip_prob),
        random_prob=real_number("random-prob", random_prob),
        odds=real_number("odds", odds),
        p=real_number("p", p),
        q=real_number("q", q),
        protocol=protocol,
        k=size,
    )
    words = meaning.in_words(converted.epsilon, size, protocol)
    if chosen == "value":
        typer.echo(f"{converted.epsilon:.6g}")
    elif chosen == "json":
        typer.echo(_json(converted, words, meaning.sentences(words)))
    else:
        for line in [*_conversion(converted), *meaning.sentences(words)]:
            typer.echo(line)


def _conversion(converted: Any) -> list[str]:
    if converted.how == "as given":
        return []
    lines = [f"ε = {converted.epsilon:.4g} by replacement (the user's value against any other): {converted.how}."]
    if converted.removal is not None:
        lines.append(f"ε = {converted.removal:.4g} by removal (the user's value against {converted.reference}).")
    return lines


def _json(converted: Any, words: Any, told: list[str]) -> str:
    import json
    from dataclasses import asdict

    from advisor.formats import envelope

    answer = envelope() | {
        "epsilon": converted.epsilon,
        "epsilon_removal": converted.removal,
        "formula": converted.how,
        "in_words": asdict(words),
        "sentences": told,
    }
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
