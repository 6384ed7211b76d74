"""One run of ``ldp-advise sweep``: check, read, simulate, write."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from advisor.cli.outputs import check_writable, write_text
from advisor.cli.progress import TimedProgress
from advisor.errors import InputError
from advisor.question.frequencies import from_file
from advisor.sweeps.answer import SweepQuestion, check_sweep, question_from_sample, question_from_shape, run_sweep


def sweep_file(
    sample: str | None,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
    skew: float | None,
    shape: str | None,
    ordered: bool | None,
    per_protocol: bool,
    jobs: int | None,
    resume: str | None,
    output_format: str,
    output: str | None,
    plot: str | None,
    plot_curves: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Sweep; everything that can be refused is refused before the simulation.

    Raises
    ------
    InputError
        If an option, the sample or an output file is wrong.
    """
    checked = check_sweep(**settings)
    target = None if output is None else check_writable("--output", output, force=force, sample=sample)
    pictures: list[tuple[str, Path]] = []
    for option, path in (("--plot", plot), ("--plot-curves", plot_curves)):
        if path is not None:
            from advisor.pictures import check_picture

            others = [target, *(done for _, done in pictures)]
            pictures.append((option, check_picture(option, path, force=force, sample=sample, others=others)))
    if resume is not None:
        check_writable("--resume", resume, force=True, sample=sample)
    question = _question(sample, checked, reading, skew=skew, shape=shape, ordered=ordered, quiet=quiet)
    with TimedProgress("cells", enabled=not quiet) as progress:
        swept = run_sweep(question, jobs=jobs or os.cpu_count() or 1, resume=resume, progress=progress)
    if pictures:
        from advisor.pictures import save
        from advisor.pictures.sweep import curves_figure, winners_figure

        for option, picture in pictures:
            draw = winners_figure if option == "--plot" else curves_figure
            save(draw(swept), picture)
    from advisor.sweeps import document as sweep_words

    if output_format == "table" and target is None:
        from advisor.render import console_for

        sweep_words.print_sweep(swept, console_for(), per_protocol=per_protocol, quiet=quiet)
        return
    text = {
        "table": lambda: sweep_words.to_text(swept, per_protocol=per_protocol),
        "plain": lambda: sweep_words.to_text(swept, per_protocol=per_protocol),
        "markdown": lambda: sweep_words.to_markdown(swept, per_protocol=per_protocol),
        "json": lambda: sweep_words.to_json(swept) + "\n",
        "csv": lambda: sweep_words.to_csv(swept),
    }[output_format]()
    if target is None:
        sys.stdout.write(text)
    else:
        write_text(target, text)


def _question(
    sample: str | None,
    checked: dict[str, Any],
    reading: dict[str, Any],
    *,
    skew: float | None,
    shape: str | None,
    ordered: bool | None,
    quiet: bool,
) -> SweepQuestion:
    if sample is None:
        for name, given in reading.items():
            if given is not None:
                raise InputError(f"--{name} needs a file, and none is given")
        return question_from_shape(checked, skew=skew, shape=shape, ordered=ordered)
    for option, value in (("--skew", skew), ("--shape", shape)):
        if value is not None:
            raise InputError(f"{option} is for a sweep without a file: the frequencies are those of {sample}")
    if not quiet:
        from advisor.cli.options import PRIVACY_NOTICE

        print(PRIVACY_NOTICE, file=sys.stderr)  # noqa: T201 - the only package that prints
    sizes = checked["sizes"] or (None,)
    if len(sizes) > 1 and sample == "-":
        raise InputError("standard input can be read once only: give one k, or a file")
    return question_from_sample(checked, tuple(from_file(sample, k=k, ordered=ordered, **reading) for k in sizes))
