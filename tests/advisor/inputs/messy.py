"""Messy files, made at random from rows that are known: what a reader has to count is known without reading."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from dataclasses import dataclass

WORDS = ["a", "b", "New York", "é", "東京", "😀", "x" * 3000, "١٢", "0x10", "1_0", "O'Brien", "a-b", "No", "#1", "=1+1"]
CODES = ["007", "02138", "00501"]
NUMBERS = ["1", "2", "10", "-3", "2.5", "1e3", "+7", ".5"]
MISSING = ["", "NA", "nan", "None", "n/a", "NULL"]
MARKS = {"csv": ",", "tsv": "\t", "tab": "\t", "txt": ";"}
ENDS = ["\n", "\r\n", "\r"]


@dataclass
class Messy:
    """A file, which reader is for it and with which options, and what it holds, or why it may be refused."""

    suffix: str
    data: bytes
    options: dict[str, object]
    holds: dict[str, float]  # figure of each label: users, reports, estimate, or place in the domain
    flaw: str = ""
    reader: str = "sample"


def written(rows, mark, rng, *, end):
    """Return rows as CSV, each with a line end of its own kind if `end` is empty, and blank lines between them."""
    parts = []
    always = rng.random() < 0.3
    for row in rows:
        cells = [
            '"' + cell.replace('"', '""') + '"' if always or set(cell) & {mark, '"', "\n", "\r"} else cell
            for cell in row
        ]
        parts.append(mark.join(cells) + (end or rng.choice(["\n", "\r\n"])))
        while rng.random() < 0.05:
            parts.append(rng.choice(["", " ", "   "]) + (end or "\n"))
    return "".join(parts)


def wrapped(text, rng):
    """Return a text as the bytes of a file, and what is put behind its suffix."""
    if rng.random() < 0.3:
        text = text.rstrip("\r\n")
    data = (b"\xef\xbb\xbf" if rng.random() < 0.2 else b"") + text.encode()
    if rng.random() < 0.2:
        cut = rng.randrange(len(data) + 1)
        data = gzip.compress(data[:cut], mtime=0) + gzip.compress(data[cut:], mtime=0)
        return data, ".gz"
    return data, ""


def padded(cell, rng):
    return rng.choice(["", "", "", " ", "  "]) + cell + rng.choice(["", "", "", " ", "\t"])


def labels_of(rng, mark):
    """Return distinct labels: words, numbers or codes; in tables also such as need quotation marks."""
    pool = rng.choice([WORDS, NUMBERS, CODES, WORDS + NUMBERS + CODES])
    pool = rng.sample(pool, rng.randint(1, len(pool)))
    if mark is not None and pool[0] in WORDS:
        pool += rng.sample([f"a{mark}b", 'say "hi"', "two\nlines", '"', f'{mark}"{mark}'], rng.randint(0, 3))
    return pool


def without_missing(cells):
    """Return what is left if missing values are dropped; "none" is one only where all else is numbers."""
    spelled = {word.casefold() for word in MISSING}
    present = [cell for cell in cells if cell.casefold() not in spelled]
    numeric = bool(present) and all(cell in NUMBERS for cell in present)
    gone = spelled if numeric else spelled - {"none"}
    return Counter({cell: users for cell, users in cells.items() if cell.casefold() not in gone and users})


def values(rng):
    """One value a line, without any separator."""
    pool, end = labels_of(rng, None), rng.choice(ENDS)
    cells = [rng.choice(pool) for _ in range(rng.randint(1, 300))]
    header = rng.random() < 0.5
    # A tab at the end of every line would be a separator.
    lines = ["title"] * header + [padded(cell, rng).replace("\t", " ") for cell in cells]
    text = "".join(line + end + (end if rng.random() < 0.03 else "") for line in lines)
    data, behind = wrapped(text, rng)
    return Messy(rng.choice([".txt", "", ".csv"]) + behind, data, {"header": header}, Counter(map(str.strip, cells)))


def table(rng):
    """One row a user, the values in one of several columns."""
    kind = rng.choice(list(MARKS))
    mark, width = MARKS[kind], rng.randint(2, 6)
    at, pool = rng.randrange(width), labels_of(rng, mark)
    drop = rng.random() < 0.3
    pool += rng.sample(MISSING, 2) if drop else []
    rows = [[padded(rng.choice(pool if c == at else WORDS[:4]), rng) for c in range(width)] for _ in range(200)]
    rows = rows[: rng.randint(3, 200)]
    header = rng.random() < 0.6
    names = [[f"column {at}" for at in range(width)]] * header
    data, behind = wrapped(written(names + rows, mark, rng, end=rng.choice([*ENDS[:2], ""])), rng)
    options = {"header": header, "drop_missing": drop}
    options["column"] = rng.choice([str(at + 1), f"column {at}" if header else str(at + 1)])
    users = Counter(row[at].strip() for row in rows)
    return Messy(f".{kind}{behind}", data, options, without_missing(users) if drop else users)


def histogram(rng):
    """Labels, some of them twice, with their numbers of users."""
    kind = rng.choice(["csv", "tsv"])
    mark, pool = MARKS[kind], labels_of(rng, MARKS[kind])
    rows, users = [], Counter[str]()
    for _ in range(rng.randint(2, 60)):
        label, count = rng.choice(pool), rng.choice([0, 1, 7, 1000, 12_345])
        spellings = [str(count), f"{count}.0", f"+{count}", f" {count} ", f"{count:,}" if count else "0"]
        rows.append([padded(label, rng), rng.choice(spellings)])
        users[label.strip()] += count
    data, behind = wrapped(written([["label", "count"], *rows], mark, rng, end=rng.choice(ENDS[:2])), rng)
    return Messy(f".{kind}{behind}", data, {"counts": rng.choice(["count", "2", None])}, users)


def damaged(rng):
    """A file of the other kinds with a flaw that any program would stumble over, or one that a reader may not see."""
    one = rng.choice([values, table, histogram])(rng)
    data = one.data
    flaws = {
        "a NUL": lambda at: data[:at] + b"\0" + data[at:],
        "no UTF-8": lambda at: data[:at] + b"\xff\xfe\xfd" + data[at:],
        "a quotation mark": lambda at: data[:at] + b'"' + data[at:],
        "a separator": lambda at: data[:at] + rng.choice([b",", b";", b"\t", b"|"]) + data[at:],
        "a line end": lambda at: data[:at] + rng.choice([b"\n", b"\r"]) + data[at:],
        "cut short": lambda at: data[:at],
        "UTF-16": lambda _at: data.decode("utf-8", "replace").encode("utf-16"),
        "any byte": lambda at: data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
    }
    one.flaw = rng.choice(list(flaws))
    one.data = flaws[one.flaw](rng.randrange(len(data) + 1))
    return one


def domain(rng):
    """All labels, one a line."""
    pool, end = [label for label in labels_of(rng, None) if label], rng.choice(ENDS)
    data, behind = wrapped("".join(padded(label, rng).replace("\t", " ") + end for label in pool), rng)
    return Messy(f".txt{behind}", data, {}, {label: at for at, label in enumerate(pool)}, reader="domain")


def estimate(rng):
    """Labels with their estimates, in any spelling of numbers."""
    kind = rng.choice(["csv", "tsv"])
    pool = [*rng.sample(WORDS, rng.randint(2, len(WORDS))), f"a{MARKS[kind]}b"]
    holds = {label: rng.choice([-0.013, 0.25, 1e-3, 3.0, -2e5]) for label in pool}
    rows = [
        [padded(label, rng), rng.choice([repr, "{:e}".format, "{:+}".format])(value)] for label, value in holds.items()
    ]
    data, behind = wrapped(written([["label", "estimate"], *rows], MARKS[kind], rng, end=rng.choice(ENDS[:2])), rng)
    return Messy(f".{kind}{behind}", data, {}, holds, reader="estimate")


def places(rng):
    """Cells of a grid, with or without a column of counts."""
    counted, holds, rows = rng.random() < 0.5, Counter[str](), []
    for _ in range(rng.randint(1, 200)):
        row, column, users = rng.randrange(3), rng.randrange(5), rng.choice([0, 1, 12]) if counted else 1
        rows.append([padded(str(row), rng), padded(f"{column}.0", rng), *[str(users)] * counted, "x"])
        holds[str(5 * row + column)] += users
    names = ["row", "col", *["count"] * counted, "other"]
    data, behind = wrapped(written([names, *rows], ",", rng, end=rng.choice(ENDS[:2])), rng)
    return Messy(f".csv{behind}", data, {"columns": "row,col", "grid": "3x5"}, +holds, reader="places")


def values_reported(rng):
    """Reports that are categories."""
    pool = labels_of(rng, None)
    cells = [rng.choice(pool) for _ in range(rng.randint(1, 200))]
    data, behind = wrapped(written([["report", "t"], *([cell, "1"] for cell in cells)], ",", rng, end="\n"), rng)
    options = {"protocol": "grr", "epsilon": 1.0, "domain": [*pool, "never"]}
    return Messy(f".csv{behind}", data, options, dict(Counter(cells)), reader="reports")


def bits_reported(rng):
    """Reports of one bit a category, in columns or as strings."""
    k, end = rng.randint(2, 30), rng.choice(ENDS)
    bits = [[rng.choice("001") for _ in range(k)] for _ in range(rng.randint(1, 200))]
    mark = rng.choice(["", ",", "\t"])
    data, behind = wrapped("".join(mark.join(row) + end for row in bits), rng)
    holds = {str(at): sum(row[at] == "1" for row in bits) for at in range(k)}
    options = {"protocol": "oue", "epsilon": 1.0, "k": k}
    return Messy(f".{'tsv' if mark == chr(9) else 'csv'}{behind}", data, options, holds, reader="reports")


KINDS = (values, table, histogram, damaged, domain, estimate, places, values_reported, bits_reported)


def messy(seed):
    """Return one of the files; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - of files, not of secrets
    return KINDS[seed % len(KINDS)](rng)
