import random
import signal
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.extensions.places.cells import read_places
from advisor.extensions.places.channel import read_channel
from advisor.inputs import source, table
from advisor.inputs.bins import Cut
from advisor.inputs.domain import read_domain
from advisor.inputs.estimates import read_estimates
from advisor.inputs.histogram import read_histogram
from advisor.inputs.numbers import MissingCodes
from advisor.inputs.transactions import read_transactions
from tests.advisor.inputs.messy import KINDS, messy
from tests.advisor.inputs.reading import gz, read_bytes, read_reports, users, with_layout

HANGS = 30  # seconds: a file of a few kilobytes takes milliseconds

OTHERS = {
    "domain": read_domain,
    "estimates": read_estimates,
    "channel": lambda path: read_channel(path, 3),
    "places": lambda path: read_places(path, columns="1,2", grid="8x8"),
    "degrees": lambda path: read_places(path, columns="1,2", cell_km=1.0),
    "items": lambda path: read_transactions(path, keep_top=3),
    "undecided": read_histogram,
    "bins": lambda path: read_histogram(path, column="1", cut=Cut(count=5), missing=MissingCodes(usual=True)),
    "edges": lambda path: read_histogram(path, cut=Cut(width=0.5, edges=(0.0, 1e3), clamp=True)),
    "grr": lambda path: read_reports(path, "grr", 1.0),
    "oue": lambda path: read_reports(path, "oue", 1.0),
    "ss": lambda path: read_reports(path, "ss", 1.0, k=8),
    "olh": lambda path: read_reports(path, "olh", 1.0, k=8),
    "she": lambda path: read_reports(path, "she", 1.0),
    "pgr": lambda path: read_reports(path, "pgr", 1.0, k=8),
}


@contextmanager
def no_hang():
    def alarm(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, alarm)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refused_in_one_line(error):
    message = str(error)
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 1000, message[:300]


def read(one, path):
    """Return what a reader finds, the figure of each label."""
    options = one.options
    if one.reader == "domain":
        return {label: at for at, label in enumerate(read_domain(str(path)))}
    if one.reader == "estimate":
        estimates = read_estimates(str(path))
        return dict(zip(estimates.labels, estimates.values.tolist(), strict=True))
    if one.reader == "places":
        return {str(at): users for at, users in enumerate(read_places(str(path), **options).counts.tolist()) if users}
    if one.reader == "reports":
        reports = read_reports(str(path), **options)
        return dict(zip(reports.labels, reports.tally.counts.tolist(), strict=True))
    piped = path.suffix == ""  # standard input tells nothing by its name
    sample = read_bytes(one.data, **options) if piped else read_histogram(str(path), **with_layout(options))
    return dict(zip(sample.labels, sample.counts.tolist(), strict=True))


def without_zeros(figures):
    return {label: figure for label, figure in figures.items() if figure}


def check(seed, folder):
    one = messy(seed)
    path = folder / f"f{one.suffix}"
    path.write_bytes(one.data)
    rng = random.Random(seed)  # noqa: S311 - of files, not of secrets
    with pytest.MonkeyPatch.context() as patch, no_hang():
        patch.setattr("advisor.inputs.head.HEAD_LINES", rng.choice([3, 20, 1000]))
        patch.setattr(source, "CHUNK_BYTES", rng.choice([7, 100, 1 << 19]))
        patch.setattr(table, "FEW", rng.choice([-1, 1 << 18]))
        refusal, found = "", {}
        try:
            found = read(one, path)
        except InputError as error:
            refused_in_one_line(error)
            refusal = str(error)
        if not one.flaw:
            # A sample needs a user, an estimate another category; all else may not be refused.
            assert not refusal or not any(one.holds.values()), f"seed {seed}: {refusal}"
            assert refusal or without_zeros(found) == without_zeros(one.holds), f"seed {seed}"
        for name in rng.sample(list(OTHERS), 3):
            try:
                OTHERS[name](str(path))
            except InputError as error:
                refused_in_one_line(error)


@pytest.mark.parametrize("seeds", [range(45), pytest.param(range(45, 630), marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_messy_files_are_counted_or_refused(kind, seeds, tmp_path):
    for seed in seeds:
        if KINDS[seed % len(KINDS)] is kind:
            check(seed, tmp_path)


PIECES = st.sampled_from(
    [
        *(bytes([byte]) for byte in b'a1,;|" \t\n\r\x0b\xff'),
        *(b'""', b"\r\n", b"x,1\n", b"nan", b"count", b"1,000", b"2.5", b"-1", b"1e999", b"(other)"),
        *(b"\xc3\xa9", b"\xef\xbb\xbf", b"PAR1", b"\x1f\x8b"),
    ]
)


@settings(deadline=None, max_examples=120)
@given(
    data=st.binary(max_size=80) | st.lists(PIECES, max_size=40).map(b"".join),
    zipped=st.booleans(),
    column=st.none() | st.sampled_from(["1", "count"]),
    counts=st.none() | st.sampled_from(["2", "count"]),
    header=st.none() | st.booleans(),
    drop=st.booleans(),
    transactions=st.booleans(),
)
def test_random_bytes_raise_nothing_but_input_errors(data, zipped, column, counts, header, drop, transactions):
    packed = gz(data) if zipped else data
    options = {"column": column, "counts": counts, "drop_missing": drop}
    options = {"read": read_transactions} if transactions else options
    try:
        read = read_bytes(packed, header=header, **options)
    except InputError as error:
        outcome = str(error)
    else:
        outcome = f"standard input: {sum(users(read).values())} users"
    assert outcome.startswith("standard input")
    assert "\n" not in outcome
    assert not outcome.endswith(": 0 users")


@settings(deadline=None, max_examples=30)
@given(
    cells=st.lists(
        st.lists(
            st.sampled_from(["a", "0", "01", "", " b ", '"', 'x"y', "\u00a0", "é", "NA", "1.0"]), min_size=2, max_size=2
        ),
        min_size=1,
        max_size=12,
    ),
    marks=st.lists(st.sampled_from(["plain", "quoted", "broken", "blank", "ragged"]), min_size=12, max_size=12),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=12, max_size=12),
    chunk=st.integers(1, 30),
)
@example(cells=[["", ""]], marks=["quoted"], ends=["\n"], chunk=30)
def test_blocks_through_pandas_are_what_a_csv_reader_reads(cells, marks, ends, chunk):
    text_ = "id,value\nx,y\n"
    for row, mark, end in zip(cells, marks, ends, strict=False):
        quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in row)
        text_ += {
            "blank": " ",
            "ragged": "a,b,c",
            "plain": ",".join(row),
            "quoted": quoted,
            "broken": f'"{row[0]}" ,b',
        }[mark] + end
    data = (text_ + "x,z\n").encode()
    outcomes = []
    for head, size in ((1000, 1 << 19), (2, 1 << 19), (2, chunk)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("advisor.inputs.head.HEAD_LINES", head)
            patch.setattr(source, "CHUNK_BYTES", size)
            try:
                read = read_bytes(data, column="value", header=True, drop_missing=True)
                outcomes.append((read.labels, read.counts.tolist(), read.warnings))
            except InputError as error:
                outcomes.append(str(error))
    assert outcomes[1] == outcomes[2]
    if not isinstance(outcomes[0], str) or not isinstance(outcomes[1], str):
        assert outcomes[0] == outcomes[1]
