"""``ldp-advise places``: protocols and methods for places on a map."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from advisor.cli.arguments import Sample
from advisor.cli.options import Only
from advisor.cli.progress import DelayedProgress
from advisor.cli.run import Job, Output, SideFile, run
from advisor.extensions.places.answer import answer_places
from advisor.extensions.places.document import places_document
from advisor.extensions.places.picture import places_figure
from advisor.extensions.places.question import Ground, PlacesMenu, PlacesSettings, Promise
from advisor.extensions.places.reading import places_request
from advisor.extensions.places.result import PlacesAdvice
from advisor.question.metric_settings import MetricSettings
from advisor.question.settings import Categories, Columns, Limits, Picture, Question, Simulation
from advisor.show.model import TOP, Figure, Section
from advisor.show.pictures import PICTURES, require_matplotlib, save, to_svg


def places_command(
    *,
    sample: Sample = None,
    question: Question,
    ground: Ground,
    promise: Promise,
    menu: PlacesMenu,
    domain: Categories,
    columns: Columns,
    limits: Annotated[Limits, Only("max_bits", "max_attack", "proper", "unbiased")],
    metric_settings: MetricSettings,
    simulation: Annotated[Simulation, Only("repetitions", "max_repetitions", "seed", "jobs")],
    picture: Picture,
    output: Output,
) -> None:
    """Say which protocol and method to use for places on a map.

    Errors are measured by distance, and privacy is local, or metric: a budget for places that are near each other.
    SAMPLE holds coordinates on a grid or on the globe; with --privacy metric, ordered categories will do.

    Example: ldp-advise places visits.csv --grid 32x32 --columns row,col --privacy metric --radius 3 --eps 2
    """
    settings = PlacesSettings(
        question, ground, promise, menu, domain, columns, limits, metric_settings, simulation
    )  # fmt: skip
    settings.check(sample)
    run(
        Job(
            read=lambda: places_request(sample or "", settings),
            answer=partial(answer_places, jobs=simulation.jobs or 1),
            document=places_document,
            sections=_sections,
            progress=partial(DelayedProgress, "simulating"),
            inputs=[sample, menu.channel],
            files=[SideFile("--plot", picture.plot, PICTURES, _draw, require_matplotlib)],
            unprotected=True,
        ),
        output,
        # Channels are few: all of them are shown, so that the trade-off is in one table.
        top=None if promise.privacy == "metric" else TOP,
    )


def _draw(advice: PlacesAdvice, target: Path) -> None:
    save(places_figure(advice), target)


def _sections(advice: PlacesAdvice) -> tuple[Section, ...]:
    return (
        Section("Maps", (Figure("Maps", "maps of one collection", lambda: to_svg(places_figure(advice), "maps")),)),
    )
