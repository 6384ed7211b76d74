"""``ldp-advise cite``: a methods paragraph and its sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from advisor.cli.catalog import Bibliography, References
from advisor.cli.options import Only, argument
from advisor.cli.run import Job, run
from advisor.extensions.cite.document import citation_document, used_in
from advisor.question.option import require

Names = Annotated[list[str] | None, argument("NAME", "protocols and methods, or one answer that was saved as JSON")]


def cite_command(
    *,
    names: Names = None,
    bibliography: Bibliography,
    output: Annotated[References, Only("format", "output", "report", "title", "force", "quiet", "verbose")],
) -> None:
    """Write a methods paragraph, and BibTeX of what it cites.

    Of a saved answer, that is all it compared.

    Examples: ldp-advise cite pgr eb_ns --output refs.bib
              ldp-advise --eps 1 sample.csv --output answer.json && ldp-advise cite answer.json
    """
    given = names or []
    require(
        ("NAME", given or None, "protocols and methods, for example ldp-advise cite pgr eb_ns, or a saved answer.json")
    )
    alone = bibliography.bibtex or output.is_bibliography
    run(replace(Job.of(lambda: citation_document(used_in(given), bibtex_alone=alone)), inputs=given), output)
