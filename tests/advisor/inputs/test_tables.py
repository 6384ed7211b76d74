import io
from collections import Counter
from contextlib import contextmanager
from itertools import product

import pandas as pd
import pytest

from advisor.errors import InputError
from advisor.inputs import histogram, table, transactions
from advisor.inputs.histogram import read_histogram
from advisor.inputs.labels import OTHER_LABEL
from advisor.inputs.transactions import read_transactions
from advisor.question.cleaning import Cleaning
from advisor.question.question import Question
from advisor.question.sample import simulated_frequencies
from advisor.question.settings import Columns
from simulator.seeding import rng_for
from tests.advisor.inputs.reading import Pipe, error_of, gz, piped, put, read_bytes, read_file, users
from tests.cells import failures, over


@contextmanager
def reader_of_small_files():
    """Read all row by row, as files with quotation marks are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table.TextRows, "_text_block", lambda *_: None)
        yield


TEXAS = {"Texas": 2, "Ohio": 1}
ONCE = {"red": 1, "blue": 1}
AGES = "age\n" + "1\n" * 3000 + "NULL\n2\nNULL\n"
# Name and text of a file, options, the users in it, and the words of each warning.
VALUES = [
    ("a.csv", "state,age\nTexas,1\nOhio,2\nTexas,3\n", {"column": "1"}, TEXAS),
    ("a.csv", "state;age\nTexas;1\nOhio;2\nTexas;3\n", {"column": "state"}, TEXAS),
    ("a.tsv", "state\tage\nTexas\t1\nOhio\t2\nTexas\t3\n", {"column": " STATE "}, TEXAS),
    ("a.txt", "state\tage\nTexas\t1\nOhio\t2\nTexas\t3\n", {"column": "state"}, TEXAS),
    ("a", "state|age\nTexas|1\nOhio|2\nTexas|3\n", {"column": "1"}, TEXAS),
    ("a.csv", "state,age\r\nTexas,1\r\nOhio,2\r\nTexas,3", {"column": "state"}, TEXAS),
    ("a.csv", "state,age\rTexas,1\rOhio,2\rTexas,3", {"column": "state"}, TEXAS),
    ("a.csv", '\ufeff"state","age"\n"Texas","1"\n Ohio ,2\nTexas,3', {"column": "state"}, TEXAS),
    ("a.csv", "id,state,size\n1,Texas,3\n2,Ohio,7\n3,Texas,5\n", {"column": "state"}, TEXAS),  # a size of each user
    ("a.csv", "s\n" + 'Ohio\n"New\nYork"\n' * 600, {}, {"Ohio": 600, "New\nYork": 600}, "goes over several lines"),
    ("a.csv", '"state"\n' + '"Te""xas"\nOhio\n' * 900, {}, {'Te"xas': 900, "Ohio": 900}),
    ("a.csv", "state\tage\r\n" + "Texas\t1\r\nOhio\t2\r\n" * 900, {"column": "1"}, {"Texas": 900, "Ohio": 900}),
    ("a.csv", "state\n" + "Texas \n \nOhio\n" * 900, {}, {"Texas": 900, "Ohio": 900}, "900 blank lines were skipped"),
    ("a.txt", "Texas\n\n  Ohio, too\n" * 900, {}, {"Texas": 900, "Ohio, too": 900}, "900 blank lines were skipped"),
    ("a.txt", "Smith, J\nDoe\nSmith, J\n", {}, {"Smith, J": 2, "Doe": 1}, "most lines hold commas"),
    ("a.txt", '"Smith, J"\nDoe\n', {}, {"Smith, J": 1, "Doe": 1}),
    ("a.txt", '"Hi" she said\n"x"\n', {}, {'"Hi" she said': 1, '"x"': 1}, "2 labels begin with a quotation mark"),
    ("a.txt", 'a\n"b\nc\nd"\na\n', {}, {"a": 2, '"b': 1, "c": 1, 'd"': 1}, "('\"b'), which was kept as part of it"),
    ("a.txt", 'a\n"b\nc\na\n', {}, {"a": 2, '"b': 1, "c": 1}, "1 label begins with a quotation mark"),
    ("a.csv", 'v\na\n"b\nc\nd"\na\n', {"header": True}, {"a": 2, "b\nc\nd": 1}, "over several lines ('b\\nc\\nd')"),
    ("a.txt", "New York\nRome\nNew York\n", {}, {"New York": 2, "Rome": 1}),
    ("a.txt", "PAR1\nPAR2\n", {}, {"PAR1": 1, "PAR2": 1}),
    ("a.tsv", 'id\ttitle\n1\t"Up" again\n2\tDown\n', {"column": "title"}, {'"Up" again': 1, "Down": 1}, "quotation"),
    ("a.csv", 'a,b\n"x\ny",1\nz,2\n', {"column": "a"}, {"x\ny": 1, "z": 1}, "1 label goes over several lines"),
    ("a.csv", "value\na|b\n|\n;\n", {}, {"a|b": 1, "|": 1, ";": 1}),
    ("a.txt", "1\n2\n\n\n", {}, {"1": 1, "2": 1}),
    ("a.txt", "1\n\n2\n  \n1\n\n", {}, {"1": 2, "2": 1}, "2 blank lines were skipped"),
    ("a.csv", "a,b\n1,2\n\n1,3\n\n", {"column": "a"}, {"1": 2}, "1 blank line was skipped"),
    ("a.txt", 'a\n" "\n"b" x\n', {}, {"a": 1, '" "': 1, '"b" x': 1}, "2 labels begin with a quotation mark"),
    ("a.txt", "age\n1\n2\n", {}, {"1": 1, "2": 1}),  # numeric below, not above
    ("a.txt", "red\nblue\n", {}, ONCE),  # one column of words: no header
    ("a.csv", "red\nblue\n", {}, {"blue": 1}),
    ("a.csv", "red\nblue\nred\n", {}, {"red": 2, "blue": 1}),  # the first word comes again
    ("a.csv", "red\nblue\n", {"header": False}, ONCE),
    ("a.txt", "red\nblue\n", {"header": True}, {"blue": 1}),
    ("a.txt", "red\nblue\n", {"column": "red"}, {"blue": 1}),
    ("a.csv", "2,9\n3,8\n", {"column": "2"}, {"9": 1, "8": 1}),  # a number is a place, not a name …
    ("a.csv", "2020,2021\n3,8\n", {"column": "2021"}, {"8": 1}),  # … unless there is no such place
    ("a.csv", "zip,x\n02138,a\n", {"column": "zip"}, {"02138": 1}),
    ("a.csv", "x,X,y\n1,2,3\n", {"column": "X"}, {"2": 1}),
    ("a.csv", "x,x,y\n1,2,3\n", {"column": "2"}, {"2": 1}),
    ("a.csv", ",state\n0,Texas\n1,Ohio\n", {"column": "1"}, {"0": 1, "1": 1}),
    ("a.csv", "state,count\nTexas,3\nOhio,3\n", {"column": "count"}, {"3": 2}),
    ("a.txt", "NA\nDE\nNone\nNA\n", {}, {"NA": 2, "DE": 1, "None": 1}, "'NA' (2 users) looks like no answer"),
    ("a.txt", "nan\n1\n", {"drop_missing": True}, {"1": 1}, "1 user was left out: the value is missing"),
    ("a.txt", AGES, {"drop_missing": True}, {"1": 3000, "2": 1}, "2 users were left out: the value is missing"),
    ("a.csv", "x,y\nOhio,1\n,2\nNA,3\n", {"column": "x", "drop_missing": True}, {"Ohio": 1}, "2 users were"),
]
HISTOGRAMS = [
    ("a.csv", "state,count\nTexas,2\nOhio,1\n", {}, TEXAS),
    ("a.csv", "N,state\n2,Texas\n1,Ohio\n", {}, TEXAS),
    ("a.csv", "state,Freq\nTexas,2.0\nOhio,1\n", {}, TEXAS),
    ("a.csv", "x,state,count\na,Texas,2\nb,Ohio,1\n", {"column": "state"}, TEXAS),
    ("a.csv", "state,seen\nTexas,2\nOhio,1\n", {"counts": "seen"}, TEXAS),
    ("a.csv", "a,state,seen\n1,Texas,2\n1,Ohio,1\n", {"counts": "seen", "column": "state"}, TEXAS),
    ("a.csv", "Texas,2\nOhio,1\n", {"counts": "2"}, TEXAS),
    ("a.csv", "2,Texas\n1,Ohio\n", {"counts": "1"}, TEXAS),
    ("a.csv", ",count\nTexas,2\nOhio,1\n", {}, TEXAS),
    ("a.csv", "number,count\n7,3\n8,0\n", {}, {"7": 3, "8": 0}),  # the better name of a count
    ("a.csv", 'x,count\na,12.0\nb,1e3\nc,"1,000"\nd, 7 \ne,+5\n', {}, {"a": 12, "b": 1000, "c": 1000, "d": 7, "e": 5}),
    ("a.csv", 'town,population\nNorth,"1,200"\nTotal,7\n', {}, {"North": 1200, "Total": 7}),  # which is no total
    ("a.csv", "x,count\na,1\nb,1\na,2\n", {}, {"a": 3, "b": 1}, "label 'a' (line 4) appeared before; the counts of a"),
    (
        "a.csv",
        "age,count\n1,5\nnan,7\n,2\n",
        {"drop_missing": True},
        {"1": 5},
        "2 categories of 9 users left out: the value is",
    ),
]


def test_files_give_the_users_in_them(tmp_path):
    def counted(cell):
        (name, text, options, expected, *warned), of_counts = cell
        data = text.encode()
        found = [read_file(tmp_path, f"{name}.gz", gz(data), **options), read_file(tmp_path, name, data, **options)]
        with reader_of_small_files():
            found.append(read_file(tmp_path, name, data, **options))
        if expected is TEXAS and "counts" not in options:  # a pipe tells nothing by its name
            found.append(piped(io.BufferedReader(Pipe(data)), read_histogram, "-", **options))
        for read in found:
            assert users(read) == expected
            assert read.from_histogram is of_counts
            assert any("counts in column" in note for note in read.assumptions) is of_counts
            assert len(read.warnings) == len(warned)
            assert all(words in warning for words, warning in zip(warned, read.warnings, strict=True))
            assert (read.assumptions, read.warnings) == (found[0].assumptions, found[0].warnings)

    assert failures([*product(VALUES, [False]), *product(HISTOGRAMS, [True])], counted) == {}
    assert "header (state, age)" in read_bytes(b"state,age\na,1\n", column="1").assumptions


DOUBTED = [
    ("apple   12  red\npear     3  green\n", "most lines hold blanks"),
    ("value,count\na,5\nb\nc,8\n", "most lines hold commas"),
    ("a;5\nb;6;7\nc;8\n", "hold semicolons"),
    ("a\tx\nb\tx\ty\nc\tx\n", "hold tabs"),
    ("a|5\nb|6|7\nc|8\n# end\n", "most lines hold vertical bars"),
]


@over(DOUBTED)
def test_a_table_that_is_read_line_by_line_is_doubted(text, words, *, tmp_path):
    for read in (read_bytes(text.encode()), read_file(tmp_path, "a.txt", text)):
        assert sum(read.counts) == text.count("\n")
        (warning,) = read.warnings
        assert words in warning
        assert "each line was taken as one value" in warning


def test_a_first_value_unlike_all_others_may_be_a_header():
    words = b"Paris\nRome\n" * 40 + b"Oslo\n"
    counted = read_bytes(b"city\n" + words)
    assert users(counted) == {"city": 1, "Paris": 40, "Rome": 40, "Oslo": 1}
    assert "the first line (city) was counted as a value" in counted.warnings[0]
    for header, first in ((True, 0), (False, 1)):
        decided = read_bytes(b"city\n" + words, header=header)
        assert (sum(decided.counts), decided.warnings) == (81 + first, ())
    for plain in (words, b"a\nb\nc\nd\na\n", b"a\nb\n"):  # where most values are rare, the first may be too
        assert read_bytes(plain).warnings == ()


def test_row_numbers_that_pandas_writes_are_left_out_and_an_index_of_labels_is_not(tmp_path):
    for index in (None, pd.Index([0, 1, 2, 3])):
        colours = pd.Series(["red", "blue", "red", "green"], index=index)
        named = colours.rename("colour")
        for data in (colours, named, named.to_frame(), named.value_counts().reset_index()):
            read = read_file(tmp_path, "a.csv", data.to_csv())
            assert users(read) == {"red": 2, "blue": 1, "green": 1}
            assert any("row numbers, as pandas and R write them" in note for note in read.assumptions)
    for values in ([0, 1, 2, 0], ["a", "b", "a"]):
        counted = pd.Series(values).value_counts().sort_index()
        read = read_file(tmp_path, "a.csv", counted.to_csv())
        assert users(read) == {str(value): count for value, count in counted.items()}
        assert not any("pandas" in note for note in read.assumptions)


STATES = "state,age\nTexas,1\nOhio,2.5\n"
OPEN = "cannot be cut into cells (unexpected end of data); close each quotation mark"
TWO_WAYS = "can be read in two ways"
REFUSED = [
    *(("a.csv", data, {}, ["is empty; give one value a line"]) for data in ("", " \r\n", "\ufeff", '" "\n')),
    ("a.csv", "state,count\n", {}, ["holds only a header line (state, count), no users", "--no-header"]),
    ("a.csv", STATES, {"column": "staet"}, ["no column 'staet'", "state, age", "did you mean 'state'?"]),
    ("a.csv", STATES, {}, ["has 2 columns: state, age", "--column"]),
    ("a.csv", STATES, {"counts": "agee"}, ["no column 'agee' for --counts", "did you mean 'age'?"]),
    ("a.csv", STATES, {"column": "age", "counts": "age"}, ["both name column 'age'"]),
    ("a.csv", STATES, {"header": False, "column": "state"}, ["no column 'state'", "1 to 2", "--header"]),
    ("a.csv", "x,x,y\n1,2,3\n", {"column": "x"}, ["columns 1, 2 alike"]),
    ("a.csv", "n\n1\n2\n", {"counts": "n"}, ["needs a column of labels"]),
    ("a.csv", "size,n\n7,3\n8,4\n", {}, ["could both hold the number of users"]),
    ("a.csv", "1,3\n2,5\n", {}, ["--counts 2", "--column 1"]),
    ("a.csv", "x,count\na,1.254\nb,2.517\n", {}, ["line 2", TWO_WAYS]),
    ("a.csv", "name,count\nVlad,yes\nAnne,no\n", {}, ["say which one holds the values"]),
    ("a.csv", "a;b\n1;2\n1;2;3\n", {"column": "a"}, ["line 3 has 3 fields, the header has 2; quote values that"]),
    ("a.csv", 'a,b\n"x\ny",1\nz,2\nq\n', {"column": "a"}, ["line 5 has 1 field, the header has 2"]),
    ("a.csv", 'a,b\nx,"1\ny,2\n', {"column": "a"}, [f"line 2 {OPEN}"]),
    (
        "a.csv",
        f'x,count\na,1\n"{"z" * 200_000}",1\n"b",2\n',
        {},
        ["line 3 cannot be cut into cells (field larger than field limit", "keep values short"],
    ),
    ("a.csv", "x,freq\na,0.75\nb,0.25\n", {"column": "x"}, ["column 'freq' holds shares that sum to 1"]),
    ("a.csv", "x,count\na,50%\nb,50%\n", {}, ["column 'count' holds shares that sum to 100"]),
    ("a.csv", "x,share\na,70\nb,30\n", {"column": "x", "counts": "share"}, ["holds shares that sum to 100"]),
    ("a.csv", "x,count\na,5 users\nb,7 users\n", {}, ["column 'count' holds '5 users'"]),
    ("a.csv", 'x,count\na,"1,000,00"\nb,1\n', {"counts": "2"}, ["is not a number"]),
    *(("a.csv", f"x;count\na;{n}\nb;1\n", {"counts": "2"}, [TWO_WAYS]) for n in ("1,000", "1.000")),
    ("a.csv", 'x,n\nA,"1,200"\nB,800\nC,3\nD,"2,003"\n', {}, ["'D' (line 5) is the sum of all other", "--missing D"]),
    ("a.csv", "x,count\na,0\nb,0\n", {}, ["all counts are 0"]),
    ("a.txt", AGES, {}, ["line 3002: the value is missing ('NULL')", "--drop-missing"]),
    *(("a.txt", f"1\n{word}\n", {}, ["line 2: the value is missing"]) for word in ("NaN", "n/a", "None")),
    ("a.csv", "state,x\nTexas,1\n,2\nNA,3\n", {"column": "state"}, ["line 3: the value is missing (an empty cell)"]),
    ("a.csv", "a,b\n,1\n,2\n", {"column": "a", "drop_missing": True}, ["every value is missing"]),
    ("a", "a (other)\nb\n", {"read": read_transactions}, ["'(other)' is an item"]),
    ("a", "\n\n", {"read": read_transactions}, ["is empty"]),
    ("a", 'a,"b" c\n', {"read": read_transactions}, ["close each quotation mark"]),
]


@over(REFUSED)
def test_what_cannot_be_counted_is_refused_in_one_line(name, text, options, said, *, tmp_path):
    messages = [
        error_of(tmp_path, name, text, **options),
        error_of(tmp_path, f"{name}.gz", gz(text.encode()), **options),
    ]
    with reader_of_small_files():
        messages.append(error_of(tmp_path, name, text, **options))
    for words, message in product(said, messages):
        assert words in message


@over(
    product(
        [
            ("-1", "is negative"),
            ("2.5", "is not a whole number"),
            ("NaN", "looks like one that is missing"),
            ("inf", "is not finite"),
            ("1" * 500, "is above 9007199254740992"),
            ("9007199254740991", "add up to more than 9007199254740992"),
        ],
        [4, 3000],
    )
)
def test_a_bad_count_is_named_with_its_line(setting, place, *, tmp_path):
    count, reason = setting
    rows = [f"l{at},1" for at in range(2, place)] + [f"bad,{count}", "after,1"]
    for options in ({}, {"counts": "count"}):
        message = error_of(tmp_path, "a.csv", "\n".join(["label,count", *rows]), **options)
        assert f"line {place}" in message
        assert reason in message


def test_too_many_labels_look_like_an_identifier(tmp_path, monkeypatch):
    monkeypatch.setattr(histogram, "MOST_LABELS", 100)
    rows = "\n".join(f"{at},1" for at in range(101))
    for options in ({"column": "1"}, {"counts": "2"}):
        message = error_of(tmp_path, "a.csv", rows, **options)
        assert "more than 100 distinct values, which looks like an identifier column" in message
        assert "choose another --column" in message
    monkeypatch.setattr(transactions, "MOST_LABELS", 100)
    assert "more than 100 distinct items" in error_of(tmp_path, "a.csv", rows, read=read_transactions)
    assert len(read_file(tmp_path, "a.csv", rows[: rows.rindex("\n")], column="1").labels) == 100


PANTRY = [["tea", "milk", "tea"], ["milk"], ["tea", "milk"], ["jam"], ["milk", "jam"], ["salt"]]
KEPT = [  # options, users of each item, and words of what is assumed
    ({}, {"tea": 1, "milk": 3, "jam": 1, "salt": 1}, "most often in the row"),
    ({"keep": "common"}, {"tea": 0, "milk": 4, "jam": 1, "salt": 1}, "in most rows, among all of 4 items"),
    ({"keep_top": 2}, {"milk": 4, "jam": 1, OTHER_LABEL: 1}, "among the 2 kept of 4 items"),
    ({"keep_top": 3}, {"tea": 1, "milk": 3, "jam": 1, OTHER_LABEL: 1}, "among the 3 kept of 4 items"),
]


@over(product([", ", ";", "\t", " "], KEPT))
def test_each_user_keeps_one_item(sep, cell, *, tmp_path):
    options, expected, note = cell
    data = "\n".join(sep.join(row) for row in PANTRY)
    pipe = io.BufferedReader(Pipe(data.encode()))
    from_pipe = piped(pipe, read_transactions, "-", **options)
    for read in (read_transactions(put(tmp_path, "a.txt", data), **options), from_pipe):
        assert users(read) == expected
        assert not read.from_histogram
        assert note in read.assumptions[1]


def naive_keep(rows, keep, keep_top):
    items = sorted({item for row in rows for item in row})
    having = {item: sum(item in row for row in rows) for item in items}
    ranked = [item for most in range(len(rows), 0, -1) for item in items if having[item] == most][:keep_top]
    result = Counter()
    for row in rows:
        kept = OTHER_LABEL
        for item in ranked:
            better = item in row and (kept == OTHER_LABEL or (keep == "own" and row.count(item) > row.count(kept)))
            kept = item if better else kept
        result[kept] += 1
    return result


@over(product(range(6), ["own", "common"], [None, 1, 3]))
def test_items_are_kept_as_by_a_double_loop_in_any_order_of_rows(seed, keep, keep_top):
    rng = rng_for(seed, "items")
    rows = [rng.choice(list("abcdefg"), rng.integers(1, 9)).tolist() for _ in range(12)]  # so few that many tie
    expected = naive_keep(rows, keep, keep_top)
    shuffled = [rng.permutation(rows[place]).tolist() for place in rng.permutation(len(rows))]
    with pytest.MonkeyPatch.context() as patch:
        for given, block in ((rows, 1), (shuffled, 7), (shuffled, 1000)):
            patch.setattr(table, "BLOCK_ROWS", block)
            data = "".join(",".join(row) + "\n" for row in given).encode()
            read = read_bytes(data, read_transactions, header=False, keep=keep, keep_top=keep_top)
            assert +Counter(users(read)) == expected


def test_transactions_skip_blank_lines_and_a_header():
    read = read_bytes(b"items\na,b\n\nb\n,\n\n", read_transactions, header=True, keep_top=1)
    assert users(read) == {"b": 2, OTHER_LABEL: 1}
    assert read.warnings == ("1 blank line was skipped",)
    for option, given in (("column", Columns(column=("1",))), ("counts", Columns(counts="1"))):
        with pytest.raises(InputError, match=f"--{option} cannot be used with --transactions"):
            simulated_frequencies(Question(sample="-", columns=given, cleaning=Cleaning(transactions=True)))
