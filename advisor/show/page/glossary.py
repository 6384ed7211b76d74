"""The words of the page, explained in a sentence each, with the pattern by which a page is known to use one."""

from __future__ import annotations

GLOSSARY = {
    "ε (epsilon), privacy budget": (
        "How much one report may give away: whatever is reported is at most e^ε times as likely for one value as for "
        "any other. Smaller is more private, and noisier.",
        "",
    ),
    "local differential privacy": (
        "Every user perturbs their value before it leaves the device, so that nobody, the collector included, can be "
        "sure of it.",
        "",
    ),
    "protocol": ("How a value is perturbed and reported, and how the server counts the reports.", ""),
    "raw estimate": (
        "The frequencies that follow from the counts: right on average, but noisy and partly negative.",
        r"\braw\b|\bvs no PP\b",
    ),
    "post-processing (PP) method": (
        "What is done to the raw estimate afterwards to reduce its error; it costs no privacy, whatever it is.",
        r">method<|post-processing",
    ),
    "k, n": ("The number of categories, and the number of users who report.", r"\b[kn] = |>n<"),
    "error, metric": ("How far the estimate is from the truth; the metric says how that is measured.", r" error\b"),
    "95 % interval": (
        "A range that holds the figure it stands beside in 95 of 100 repetitions of the whole exercise.",
        "95 %",
    ),
    "tier, tie": (
        "Pairs that cannot be told apart, or differ by less than 5 %, share a tier and a rank.",
        r">\d+=<|\b[Tt]ied?\b|\btier\b",
    ),
    "n′/n": ("Times the users that the raw estimate would need for the same mean squared error.", "n′/n"),
    "attack success": (
        "How often the best guess from one report is the user's value, all values being equally likely.",
        ">attack<|[Aa]ttack success",
    ),
    "surrogate": (
        "Frequencies that may be behind an estimate; they stand for the truth, which is not known.",
        "rrogate",
    ),
}
