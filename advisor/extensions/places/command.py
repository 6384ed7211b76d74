"""``ldp-advise places`` and ``advisor.places``: protocols and methods for places on a map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from advisor.api.keywords import keyword_errors
from advisor.api.shown import Shown
from advisor.cli.options import Only
from advisor.cli.run import Job, Output, run
from advisor.extensions.places.answer import PlacesAdvice, answer_places
from advisor.extensions.places.document import places_document
from advisor.extensions.places.question import PlacesQuestion, places_request
from advisor.inputs.memory import file_of
from advisor.question.settings import Cells, Limits, Simulation
from advisor.show.model import TOP

LOCATED = (
    "sample",
    "terms",
    "cells:grid,cell_km,distance,radius",
    "ground",
    "places_menu",
    "domain",
    "columns",
    "limits:max_bits,max_attack,deployable,proper,unbiased",
    "simulation",
)


def places_command(*, question: Annotated[PlacesQuestion, Only(*LOCATED)], output: Output) -> None:
    """Say which protocol and method to use for places on a map.

    Errors are measured by distance, and privacy is local, or metric: a budget for places that are near each other.
    SAMPLE holds coordinates on a grid or on the globe; with --privacy metric, ordered categories will do.
    Without --grid and --cell-km, degrees get cells of a round size, at most 32x32.

    Example: ldp-advise places visits.csv --grid 32x32 --columns row,col --privacy metric --radius 3 --eps 2
    """
    question.check_places()
    run(
        Job(
            read=lambda: places_request(question),
            answer=answer_places,
            document=places_document,
            data=question,
            inputs=[question.places_menu.channel],
        ),
        output,
        # Channels are few: all of them are shown, so that the trade-off is in one table.
        top=None if question.ground.privacy == "metric" else TOP,
    )


class PlacesAnswer(PlacesAdvice, Shown):
    """The answer of `places`; its attributes are those of `advisor.extensions.places.answer.PlacesAdvice`."""

    _document = places_document


@keyword_errors()
def places(
    source: str | Path | Iterable[Any],
    eps: float,
    *,
    n: int | None = None,
    metric: str | None = None,
    protocol: str | Sequence[str] | None = None,
    method: str | Sequence[str] | None = None,
    columns: str | Sequence[str] | None = None,
    counts: str | None = None,
    channel: str | None = None,
    privacy: str = "ldp",
    curve: Sequence[float] = (),
    cells: Cells | None = None,
    limits: Limits | None = None,
    simulation: Simulation | None = None,
) -> PlacesAnswer:
    """Rank protocols and methods for places on a map; errors are measured by distance.

    Parameters
    ----------
    source
        A file, or a data frame, with one place per user, or per row with a column of counts.
    eps
        Budget of one report: for any two places, or with metric `privacy` for near ones.
    n
        Number of users who will report; default: those of the data.
    metric, protocol, method, limits, simulation
        As in `advisor.advise`; the metric is the earth mover's distance unless it is named.
    columns, counts
        Columns of the coordinates, ``"row,col"`` or ``["lon", "lat"]`` (default: by header), and of counts.
    channel
        File with a matrix of your own as a protocol.
    privacy
        ``"ldp"``, or ``"metric"``: the budget holds for places at most the radius of the cells apart.
    curve
        Budgets for which metric privacy is compared with quality of service.
    cells
        ``Cells(grid, distance, cell_km, radius)``: ``"32x32"``, ``"euclidean"`` or ``"manhattan"``, side of a cell, and
        radius in cells or km.

    Returns
    -------
    The answer; ``.best(metric)`` is the first of a ranking.

    Raises
    ------
    InputError
        If the data are no places, or something is out of range or does not go together.
    """
    named = columns if columns is None or isinstance(columns, str) else ",".join(columns)
    question = PlacesQuestion.of(locals() | {"curve": tuple(curve), "columns": named})
    with file_of(source, "places") as (path, header):
        question = replace(question, sample=path, columns=replace(question.columns, header=header))
        question.check_places()
        request = places_request(question)
    return PlacesAnswer.of(answer_places(request))
