"""What commands refuse: one line that says what to type instead, exit code 2, and nothing is written.

What options alone forbid is refused before a file is looked at: there is no absent.csv.
"""

import json
import shlex
from pathlib import Path

import pytest

from tests.advisor.cli_answers import refused
from tests.advisor.collected_files import estimate_text, raw, report_lines, reports
from tests.advisor.schemas import schema
from tests.cells import failures, over

ESTIMATE = "estimate -p oue --n 3000 --eps 1"
OLH = "-p olh --method eb_ns --eps 1"
THREE = "people.csv --column age --column 'colour, main' --column town"
TWO = "audit --files right0.txt right1.txt --eps 1"

MAIN = [
    ("--eps 1", "SAMPLE is missing: give a file"),
    ("--eps 1 --k 9 --shape zip", "did you mean 'zipf'"),
    ("--eps 1 --k 9 --skew x", "skew must be a number, got 'x'"),
    ("--eps 1 --k 9 --runs r.csv", "--runs is for a simulation, and this answer is predicted"),
    ("--eps 1 --k 9 --domain d.txt", "--domain needs a sample, and none is given"),
    ("--eps 1 --k 9 --bins 8", "--bins needs a sample, and none is given"),
    ("pareto --eps 1,2 fruit.csv", "this is answered for one ε at a time, got 1, 2"),
    ("--why --eps 1,2 --k 8", "--why goes with one ε"),
    ("--plot-frequencies x.png --eps 1,2 fruit.csv", "--plot-frequencies goes with one ε"),
]
BINS = [
    ("--bins 1", "bins must be a whole number of at least 2"),
    ("--bins 1e9", "at most 2,000,000"),
    ("--bins 4 --bin-width 5", "give either --bins or --bin-width, not both"),
    ("--bin-width 0", "bin-width must be a number above 0"),
    ("--bin-width nan", "bin-width must be a number above 0"),
    ("--bin-width 1e-9 --edges 0,100", "a domain has at most 2,000,000"),
    ("--bin-width 7 --edges 0,100", "does not divide the range from 0 to 100: end it at 105"),
    ("--edges 5", "edges must be two or more numbers"),
    ("--edges 0,120", "--edges with two numbers is one bin"),
    ("--edges 30,18,0", "edges must rise from one to the next, got 18 after 30"),
    ("--edges 0,5,5,10", "got 5 after 5"),
    ("--edges 0,nan,5", "every number in edges must be a number, got 'nan'"),
    ("--edges 0,,5", "every number in edges must be a number, got ''"),
    ("--edges 0,5,10 --bins 4", "--edges beside --bins is the range"),
    ("--edges=-5,5,10 --bin-width 5", "--edges beside --bin-width is the range"),
    ("--unit years", "--unit goes with --bins, --bin-width or --edges"),
    ("--bins 4 --clamp", "--clamp goes with --edges"),
    ("--bins 4 --keep-top 8 --other", "--keep-top, --other does not go with bins"),
    ("--bins 4 --transactions", "--transactions does not go with bins"),
    ("--bins 4 --unordered", "--unordered does not go with bins"),
    ("--bins 4 --domain x", "--domain does not go with bins"),
]
COLUMNS = [
    ("--k 50", "--k is about one column"),
    ("--counts age", "--counts is about one column"),
    ("--bins 5", "--bins is about one column"),
    ("--attributes 3", "--attributes does not go with several columns"),
    ("--metric all", "one metric at a time"),
    ("--runs runs.csv", "--runs is about one column"),
    ("--fail-if-useless", "--fail-if-useless is about one column"),
    ("--column height", "no column 'height'"),
    ("--column 1", "names column 'age' twice"),
    ("--n 2", "n must be at least the number of columns, 3, got 2"),
]
COLLECTED = [
    ("--eps 1 --estimate oue --n 99 absent.csv", "no option --estimate: it is a command, ldp-advise estimate"),
    # audit has that option
    ("--eps 1 --reports oue absent.csv", "no option --reports: it is a command, ldp-advise reports"),
    ("plan --reports oue absent.csv", "--reports is no option of ldp-advise plan, but of ldp-advise audit"),
    ("--eps 1 --estimates x absent.csv", "--estimates is no option of ldp-advise, but of ldp-advise estimate"),
    ("--eps 1 --hash mix64 absent.csv", "--hash is no option of ldp-advise, but of ldp-advise reports"),
    ("estimate --eps 1 absent.csv", "--protocol and --n are missing: give the protocol that was used, for example"),
    ("estimate -p oue --n 3000 estimate.csv", "--eps is missing: give the privacy budget of one report, for example"),
    ("estimate --eps 1 -p oue --n 300000 estimate.csv", "check n, eps and the protocol"),
    (f"{ESTIMATE} -p grr absent.csv", "takes one --protocol, got oue, grr"),
    (f"{ESTIMATE} --hash mix64 absent.csv", "--hash is no option of ldp-advise estimate"),
    (f"{ESTIMATE} -m l1 -m l2 --apply x.csv absent.csv", "--apply writes one estimate"),
    (f"{ESTIMATE} --estimates share estimate.csv --apply x.csv", "share"),
    (ESTIMATE, "SAMPLE is missing: give the file with the estimate, or - for standard input"),
    (f"{ESTIMATE} absent.csv", "absent.csv: no such file"),
    (f"{ESTIMATE} estimate.csv --apply x.csv --output x.csv", "writes the same file; give each its own name"),
    ("reports --eps 1 -p oue --estimates x absent.csv", "--estimates is no option of ldp-advise reports"),
    ("reports --eps 1 -p olh absent.csv", "reports of olh do not tell how many categories there are; say so with --k"),
    ("reports --eps 1 -p oue --subset-size 3 --k 8 few.txt", "--subset-size: oue has no such parameter; leave it out"),
    ("reports --eps 1 -p blh --hash-range 3 --k 8 few.txt", "--hash-range: blh has no such parameter; leave it out"),
    ("reports --eps 1 -p hr --blocks 3 --k 8 few.txt", "the number of blocks is a power of 2 up to 2k = 16, got 3"),
    ("reports --eps 1 -p hr --blocks 0 --k 8 few.txt", "blocks must be a whole number of at least 1, got 0"),
    ("reports --eps 1 -p ss --subset-size 8 --k 8 few.txt", "the size of subsets of k=8 values is 1 to 7, got 8"),
    ("reports --eps 1 -p oue --n 99 bits.txt", "the file holds 3,000 reports, --n 99 was given: leave --n out"),
]
AUDIT = [
    ("", "--k, --eps and --protocol are missing: give the domain size"),
    ("--eps 1 --k 5", "--protocol is missing: give what to audit: --protocol NAME, --all"),
    ("--all --eps 1 --k 2M", "k must be at most"),
    ("--all --eps 1 --k 5 --alpha 2", "alpha must be a number above 0 and below 1, got '2'"),
    ("--all --eps 1 --k 5 --attack best", "attack must be one of guess, pair"),
    ("--all --eps 1 --k 5 --attack both", "attack both needs --target"),
    ("--all --eps 1 --k 5 --trials 0", "trials must be a whole number of at least 1"),
    ("--all --eps 1 --k 5 --values 1,5", "two different ones of 0..4"),
    ("--all --eps 1 --k 5 --values 1", "values must be two different ones"),
    ("--protocol orr --eps 1 --k 5", "did you mean"),
    ("--all --protocol oue --eps 1 --k 5", "either --all or --protocol"),
    ("--all --eps 1 --k 5 --reports oue --symbols 3", "--reports, --symbols needs --target"),
    ("--all --eps 1 --k 5 --solution spl", "--solution needs --attributes"),
    ("--all --eps 1 --k 5 --attributes 2 --solution split", "solution must be one of spl, smp, rsfd"),
    ("--protocol olh --eps 1 --k 5 --attributes 2 --solution rsfd", "fake data for grr, rappor, oue only"),
    ("--all --eps 1 --k 5 --rounds 2 --attributes 2", "either --rounds or --attributes"),
    ("--all --eps 1 --k 5 --rounds 2 --attack pair", "--rounds does not go with --attack pair"),
    ("-p grr --eps 1 --k 5 --attack likelihood", "needs --memoize, or --attributes 2 --solution rsfd"),
    ("-p grr --eps 1 --k 5 --rounds 2 --attack likelihood", "needs --memoize, or --attributes 2 --solution rsfd"),
    ("-p grr --eps 1 --k 5 --attributes 2 --attack pair", "--attributes does not go with --attack pair"),
    ("-p grr --eps 1 --k 5 --attributes 2 --solution spl --attack likelihood", "does not go with --solution spl"),
    ("-p grr --eps 1 --k 5 --attributes 2 --attack likelihood --lho 2", "--lho is about single reports"),
    ("-p grr --eps 1 --k 5 --amplified", "--amplified needs --attributes"),
    ("-p grr --eps 1 --k 5 --sizes 3,5", "without --k and --attributes"),
    ("-p grr --eps 1 --sizes 3", "at least two attributes"),
    ("-p grr --eps 1 --sizes 3,5 --solution smp", "--sizes does not go with --solution smp"),
    ("-p grr --eps 1 --sizes 3,5 --values 0,3", "values must be two different ones of 0..2"),
    ("-p grr --eps 1 --sizes 3,5 --rounds 2", "either --rounds or --attributes"),
    ("-p grr --eps 1 --k 5 --device-bits 2", "--device-bits needs --memoize"),
    ("--eps 1 --k 5 --memoize --rounds 2 --device-bits 1 --eps-forever 2", "--eps-forever is not for dbitflip alone"),
    ("--eps 1 --k 5 --memoize --rounds 2 --device-bits 9", "bits must be between 1 and k=5, got 9"),
    ("--files right0.txt right1.txt --eps 1 --reports grr --k 20 --attack likelihood", "attack must be one of guess"),
    ("--files right0.txt right1.txt --eps 1 --runs 2", "--runs does not go with --files"),
    ("--all --eps 1 --k 5 --attributes 1e300", "attributes must be a whole number of at least 2 and at most 1,000"),
    ("--all --eps 1 --k 1000000 --attributes 1000", "attributes times k must be at most 100,000,000"),
    ("--all --eps 1e-5 --k 5 --attributes 20", "eps / attributes must be at least 1e-06"),
    ("--k 5 --lho 1e300", "lho must be a whole number of at least 2 and at most 2,147,483,648"),
    ("--target a:b --eps 1 --k 5", "--reports PROTOCOL or --support"),
    ("--target a:b --all --jobs 2 --eps 1 --k 5 --reports oue", "--all, --jobs does not go with --target"),
    ("--target a:b --eps 1 --k 5 --reports oue --hash xxh32", "--hash is for reports of blh or olh"),
]
AUDIT_FILES = [
    ("audit --files right0.txt --eps 1", "--files needs at least two files, the reports of one true value in each"),
    ("audit --files right0.txt absent.txt --eps 1", "absent.txt: no such file"),
    ("audit --files right0.txt empty.txt --eps 1", "empty.txt: is empty; an audit needs the reports of one true value"),
    ("audit --files right0.txt few.txt --eps 1", "few.txt has 2 reports, and so few cannot show a loss above 1: give"),
    ("audit --files right0.txt unlike.txt --eps 1", "are different, and nothing shows in lines that occur once"),
    ("audit --files right0.txt . --eps 1", ".: cannot be read (Is a directory)"),
    ("audit --files right0.txt right1.txt", "--eps is missing"),
    ("audit right0.txt right1.txt --eps 1", "audit takes no right0.txt without an option: --files for reports"),
    (f"{TWO} --reports grr", "--k is missing"),
    (f"{TWO} --k 20", "--k needs --reports PROTOCOL or --support with --files"),
    (f"{TWO} --attack pair", "--attack needs --reports PROTOCOL or --support with --files"),
    (f"{TWO} --values 0,1 --trials 50", "--values, --trials does not go with --files"),
    (f"{TWO} -p grr", "--protocol does not go with --files"),
    (f"{TWO} --target a:b", "give either --target, a client to call, or --files"),
    (f"{TWO} --reports grr --support a:b --k 20", "give either --reports or --support"),
    (f"{TWO} --reports grr --k 5", "(int): a report of grr is one value in 0..4"),
    (f"{TWO} --reports oue --k 20", "a report of oue is a vector of k=20 zeros and ones"),
    (f"{TWO} --reports olh --k 20", "and a seed in 0..2^32-1, the seed first in a line"),
    (f"{TWO} -o right0.txt --force", "never overwritten"),
]
EPSILON = [
    ("", "give --eps, for example --eps 1 (known deployments have 1.67, Windows telemetry, to 14, "),
    ("--eps 1 --odds 3", "give one of"),
    ("--eps 0", "above 0"),
    ("--flip-prob 0.25", "needs the protocol"),
    ("--flip-prob 0.25 --protocol olh", "one of grr, rappor, oue"),
    ("--flip-prob 0.6 --protocol rappor", "below 0.5"),
    ("--flip-prob 0.25 --protocol grr", "needs --k"),
    ("--random-prob 0.1 --protocol oue --k 4", "is for grr"),
    ("--p 0.2 --q 0.3", "p must be above q"),
    ("--p 0.2", "go together"),
    ("--p 0.75 --q 0.25 -p grr", "p and q of grr needs --k"),
    ("--p 0.75 --q 0.25 -p grr --k 4", "p + (k − 1) q is 1 in grr; got 1.5"),
    ("--p 0.75 --q 0.25 -p ss --k 4", "p + (k − 1) q is the number of values"),
    ("--p 0.9 --q 0.7 -p ss --k 2", "a whole number below k"),
    ("--p 0.75 --q 0.25 -p blh", "q is 1/g in blh, g being 2; got 0.25"),
    ("--p 0.75 --q 0.4 -p olh", "q is 1/g in olh"),
    ("--p 0.75 --q 0.25 -p oue", "p is 1/2 in oue; leave --protocol out for other bits; got 0.75"),
    ("--p 0.75 --q 0.3 -p rappor", "p is 1 − q in rappor"),
    ("--p 0.75 --q 0.25 -p hr --k 4", "p and q alone do not decide the ε of hr"),
    ("--eps 1 -p grr", "--protocol grr goes with --k here"),
    ("--flip-prob 1e-17 -p rappor", "this states ε = 78.3, outside of 1e-06 to 32"),
    ("--random-prob 1e-320 -p grr --k 10", "this states ε = 739, outside of"),
    ("--odds 1", "above 1"),
    ("--eps x", "must be a number"),
]
CODE = [
    ("", "--protocol, --method, --eps, --k and --to are missing"),
    (f"{OLH} --k 32", "--to is missing: give a directory to write"),
    ("-p grr --method em --eps 1 --k 4 --to new", "method em is not for reports of grr"),
    ("-p grr,oue --method none --eps 1 --k 4 --to new", "takes one --protocol"),
    (f"{OLH} --k 1 --to new", "at least 2"),
    ("-p olh --method eb_ns --eps 100 --k 8 --to new", "between 1e-06 and 32"),
    ("-p grr --method none --eps 1 --k 4 --hash xxh32 --to new", "to blh and olh"),
    (f"{OLH} --k 32 --labels labels.txt --to new", "--k is 32, but --labels labels.txt has 3 labels"),
    (f"{OLH} --labels one.txt --to new", "a question has at least 2 answers"),
    (f"{OLH} --labels absent.txt --to new", "absent.txt"),
    ("-p oue --method posterior_mean --eps 1 --k 8 --to new", "method posterior_mean is not compared by name"),
    ("answer.json --eps 1 --to new", "--eps does not go with a saved answer"),
    ("absent.json --to new", "absent.json: cannot be read"),
    (f"{OLH} --k 32 --to one.txt --force", "this is a file; name a folder"),
    (f"{OLH} --k 32 --to absent/new", "there is no directory"),
]
OTHERS = [
    ("knowledge rules --metric l3", "unknown metric 'l3'"),
    ("knowledge rules --metric emd --unordered", "emd needs an ordered domain"),
    ("knowledge rules --metric all", "one metric at a time"),
    ("knowledge cells", "--eps and --k are missing"),
    ("knowledge cells --eps 1 --k 9 --column a --keep-top 2", "--column, --keep-top needs a sample, and none is given"),
    ("knowledge cells --eps 1 --k 9 --top 101", "--top must be at most 100"),
    ("knowledge build --backend mpi --to built", "backend must be one of loky, threading, dask"),
    ("knowledge build --scheduler tcp://x:1 --to built", "--scheduler is for --backend dask"),
    ("choose --within 0", "within must be a number above 0 and below 100"),
    ("choose --sensitive secret", "sensitive must be one of low, medium, high"),
    ("choose --times 0", "times must be a whole number of at least 1"),
    ("choose --k 1", "k must be a whole number of at least 2"),
    ("choose", "--n, --k, --within, --sensitive and --times are missing: give the number of people"),
    ("choose --n 2000 --k 18 --within 1 --times 1", "--sensitive is missing: give low, medium"),
    ("choose --counts c --k 9 --n 2e4 --within 1 --sensitive low --times 1", "--counts needs a sample, and none is"),
    ("cite", "NAME is missing: give protocols and methods"),
    ("cite l1", "'l1' is no protocol, no method, and no JSON file of an answer"),
    ("cite absent.json", "absent.json: cannot be read"),
    ("explain nrm_sub", "did you mean 'norm_sub'?"),
    ("explain l1 --bibtex", "l1 names no source: --bibtex is for protocols and methods"),
    ("explain norm_sub --eps 1 --k 4", "--eps, --k does not go with norm_sub, a method: only the code of protocols is"),
    (f"--eps 1 {THREE}", "ldp-advise columns SAMPLE --column age --column 'colour, main' --column town"),
    (f"plan --target 0.1 --eps 1 {THREE}", "takes one --column"),
]
REFUSED = {
    "main": MAIN,
    "bins": [(f"{name} -q --eps 1 {words} absent.csv", said) for words, said in BINS for name in ("", "sweep")],
    "columns": [(f"columns --eps 1 {THREE} {words}", said) for words, said in COLUMNS],
    "collected": COLLECTED,
    "audit": [(f"audit {words}", said) for words, said in AUDIT],
    "audit of files": AUDIT_FILES,
    "epsilon": [(f"epsilon {words}", said) for words, said in EPSILON],
    "code": [(f"code {words}", said) for words, said in CODE],
    "others": OTHERS,
}


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "fruit.csv": "fruit,count\napple,500\nbanana,300\ncherry,150\ndate,50\n",
        "people.csv": 'age,"colour, main",town\n' + "".join(f"{i % 40},{i % 2},{i % 7}\n" for i in range(300)),
        "estimate.csv": estimate_text(raw()),
        "bits.txt": report_lines("oue", reports("oue")),
        "right0.txt": "0\n7\n" * 1500,
        "right1.txt": "1\n7\n" * 1500,
        "few.txt": "1\n0\n",
        "empty.txt": "\n",
        "unlike.txt": "".join(f"{number}\n" for number in range(9_000)),
        "labels.txt": "a\nb\nc\n",
        "one.txt": "a\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("table", REFUSED)
def test_what_a_command_refuses_is_one_line_and_writes_nothing(run, table):
    before = {path: path.read_bytes() for path in Path().iterdir()}

    def check(cell):
        words, said = cell
        err = refused(run, *shlex.split(words))
        assert err.startswith("ldp-advise: error: ")
        assert said in err
        assert {path: path.read_bytes() for path in Path().iterdir()} == before

    assert failures(REFUSED[table], check) == {}


@over(
    [
        *(("advice", words) for words in (f"{ESTIMATE} --k 9 estimate.csv", "--estimate oue", "--hash mix64", "")),
        *(("audit", f"audit {words}") for words in ("--all --eps nan --k 10", "--target nothing:f --k 4", "--nosuch")),
    ]
)
def test_errors_are_json_where_json_was_asked_for(name, words, *, run):
    code, out, err = run(*words.split(), "--format", "json")
    data = json.loads(out)
    schema(name).validate(data)
    assert (code, set(data)) == (2, {"schema_version", "tool_version", "error"})
    assert data["error"]["message"] in err
