import random
import time

import pytest

from advisor.errors import InputError
from tests.advisor.inputs.reading import read_file

LONGEST = 20  # seconds
LABELS = [
    "nie",
    "früher, heute nicht",
    "selten (1–2 mal)",
    "täglich",
    'sagt "ja"',
    "18 to 24",
    "65+",
    "Österreich",
    "0-9",
]


def cell(text, mark):
    needs = mark in text or '"' in text
    return '"' + text.replace('"', '""') + '"' if needs else text


def histogram(rng):
    labels = rng.sample(LABELS, rng.randint(3, len(LABELS)))
    counts = [rng.randint(1, 9999) for _ in labels]
    return [["answer", "count"], *([label, str(count)] for label, count in zip(labels, counts, strict=True))], sum(
        counts
    )


def users_of(rng):
    labels, n = rng.sample(LABELS, rng.randint(2, 5)), rng.randint(20, 80)
    return [["answer", "age"], *([rng.choice(labels), str(rng.randint(18, 90))] for _ in range(n))], n


def dropped(rng, rows, n):
    at = rng.randrange(1, len(rows))
    gone = rows.pop(at)
    return n - (int(gone[1]) if rows[0][1] == "count" else 1)


def doubled(rng, rows, n):
    row = rng.choice(rows[1:])
    rows.insert(rng.randrange(1, len(rows) + 1), row)
    return n + (int(row[1]) if rows[0][1] == "count" else 1)


def totalled(_, rows, n):
    if rows[0][1] == "count":
        rows.append(["Total", str(n)])
    return n


def unchanged(_, _rows, n):
    return n


ROWS = [dropped, doubled, totalled, unchanged, unchanged]


def one_line(rng, text, old, new):
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    lines[at] = lines[at].replace(old, new)
    return "\n".join(lines)


TEXTS = {
    "nothing": lambda _, text: text,
    "another separator on a line": lambda rng, text: one_line(rng, text, ",", rng.choice(";\t|")),
    "a quotation mark more": lambda rng, text: one_line(rng, text, rng.choice("ae1"), '"'),
    "quotation marks gone": lambda _, text: text.replace('"', ""),
    "a title": lambda rng, text: rng.choice(["Survey\n", "Survey 2024,\n\n", "A title; with marks\n"]) + text,
    "a source": lambda rng, text: text + rng.choice(["\nSource: us\n", "Source: the statistical office,\n", ",\n,\n"]),
    "blank lines": lambda rng, text: text.replace("\n", "\n\n", rng.randint(1, 3)),
    "separators at the ends": lambda _, text: text.replace("\n", ",\n"),
    "other line ends": lambda rng, text: text.replace("\n", rng.choice(["\r\n", "\r"])),
    "semicolons": lambda _, text: text.replace(",", ";"),
    "the end cut off": lambda rng, text: text[: -rng.randint(1, 12)],
}  # fmt: skip
ENCODINGS = ["utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16", "latin-1"]


def mutated(seed):
    rng = random.Random(seed)  # noqa: S311 - of files, not of secrets
    rows, n = rng.choice([histogram, users_of])(rng)
    n = rng.choice(ROWS)(rng, rows, n)
    text = "".join(",".join(cell(part, ",") for part in row) + "\n" for row in rows)
    kind = rng.choice(list(TEXTS))
    text = TEXTS[kind](rng, text)
    options = {} if rows[0][1] == "count" else {"column": "answer"}
    return kind, text.encode(rng.choice(ENCODINGS), "replace"), options, n


def check(seed, folder):
    kind, data, options, n = mutated(seed)
    begin = time.monotonic()
    try:
        read = read_file(folder, f"a{seed % 2}.csv", data, **options)
    except InputError as error:
        return f"{seed} {kind}: {error!r}" if "\n" in str(error) or not str(error).isprintable() else None
    if time.monotonic() - begin > LONGEST:
        return f"{seed} {kind}: takes too long"
    if kind == "the end cut off":  # nobody can tell 123 from 1
        return None
    users = int(read.counts.sum())
    return None if users == n or read.warnings else f"{seed} {kind}: {users} of {n} users, without a warning"


def test_mutated_tables_are_read_right_or_refused(tmp_path):
    assert not list(filter(None, (check(seed, tmp_path) for seed in range(200))))


@pytest.mark.slow
def test_two_thousand_mutated_tables(tmp_path):
    assert not list(filter(None, (check(seed, tmp_path) for seed in range(200, 2200))))
