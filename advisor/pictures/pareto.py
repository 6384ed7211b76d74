"""A Pareto frontier as a picture: error against bits, colour for what a report gives away. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

from advisor.cli import outputs as files
from advisor.errors import InputError, listed
from advisor.rank.pareto import Frontier

SUFFIXES = (".png", ".svg", ".pdf")


def check_plot(path: str, *, force: bool, sample: str | None) -> Path:
    """Return the file for a picture, checked before anything is simulated.

    Raises
    ------
    InputError
        If the suffix is no picture's, matplotlib is missing, or the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"--plot {path}: the suffix must be {listed(SUFFIXES)}, got {suffix or 'none'!r}")
    try:
        import matplotlib  # noqa: F401 - asked for before the simulation, not after
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'ldp-advise[plot]'") from None
    return files.check_writable("--plot", path, force=force, sample=sample)


def draw(found: Frontier, target: Path) -> None:
    """Write the picture; the suffix of `target` says which kind."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    request, metric = found.advice.request, found.advice.metric
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    beaten = [row for row, _ in found.dominated]
    axes.scatter(
        [row.report_bits for row in beaten], [row.error for row in beaten], s=14, color="0.8", label="dominated"
    )
    marks = axes.scatter(
        [row.report_bits for row in found.rows],
        [row.error for row in found.rows],
        c=[100 * row.attack_success for row in found.rows],
        cmap="viridis",
        s=60,
        edgecolors="black",
        linewidths=0.6,
        zorder=3,
        label="on the frontier",
    )
    for row in found.rows:
        axes.annotate(
            f"{row.protocol} {row.method}",
            (row.report_bits, row.error),
            textcoords="offset points",
            xytext=(7, 4),
            fontsize=8,
        )
    axes.set(xscale="log", yscale="log", xlabel="bits per report", ylabel=f"{metric} error")
    axes.set_title(f"ε = {request.epsilon:g}, k = {request.k:,}, n = {request.n:,}", fontsize=10)
    figure.colorbar(marks, ax=axes, label="attack success (%)")
    axes.legend(fontsize=8)
    suffix = target.suffix.lower().lstrip(".")
    metadata = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
    with rc_context({"svg.hashsalt": "ldp-advise"}):  # same request, same file
        files.write_atomically(target, lambda path: figure.savefig(path, format=suffix, dpi=150, metadata=metadata))
