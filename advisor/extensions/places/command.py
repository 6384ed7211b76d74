"""``ldp-advise places``: protocols and methods for places on a map."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from advisor.cli.options import Only, Sample
from advisor.cli.run import Job, Output, run
from advisor.extensions.places.answer import answer_places
from advisor.extensions.places.document import places_document
from advisor.extensions.places.question import PlacesQuestion, places_request
from advisor.question.settings import Picture
from advisor.show.model import TOP

LOCATED = (
    "terms",
    "cells:grid,cell_km,distance,radius",
    "ground",
    "places_menu",
    "domain",
    "columns",
    "limits:max_bits,max_attack,proper,unbiased",
    "simulation",
)


def places_command(
    *, sample: Sample = None, question: Annotated[PlacesQuestion, Only(*LOCATED)], picture: Picture, output: Output
) -> None:
    """Say which protocol and method to use for places on a map.

    Errors are measured by distance, and privacy is local, or metric: a budget for places that are near each other.
    SAMPLE holds coordinates on a grid or on the globe; with --privacy metric, ordered categories will do.
    Without --grid and --cell-km, degrees get cells of a round size, at most 32x32.

    Example: ldp-advise places visits.csv --grid 32x32 --columns row,col --privacy metric --radius 3 --eps 2
    """
    question = replace(question, sample=sample)
    question.check_places()
    run(
        Job(
            read=lambda: places_request(question),
            warnings=lambda request: request.warnings,
            answer=answer_places,
            document=places_document,
            inputs=[sample, question.places_menu.channel],
            plot=picture.plot,
            unprotected=True,
        ),
        output,
        # Channels are few: all of them are shown, so that the trade-off is in one table.
        top=None if question.ground.privacy == "metric" else TOP,
    )
