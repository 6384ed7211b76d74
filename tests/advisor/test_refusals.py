"""What is refused: one line that says what to type instead, exit code 2, and nothing is written.

What options alone forbid is refused before a file is looked at: there is no absent.csv.
"""

import json
import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

from advisor import CentralPromise, InputError, Limits, Plurality, advise, memoise, plan
from tests.advisor.cli_answers import refused
from tests.advisor.collected_files import estimate_text, raw, report_lines, reports
from tests.advisor.schemas import schema
from tests.cells import failures, over

# Words that stand for several.
SHORT = {
    "ESTIMATE": "estimate -p oue --n 3000 --eps 1",
    "OLH": "-p olh --method eb_ns --eps 1",
    "THREE": "people.csv --column age --column 'colour, main' --column town",
    "TWO": "audit --files right0.txt right1.txt --eps 1",
    "PROMISE": "--central-eps 1 --delta 1e-8",
    "ROUNDS": "rounds --eps 1 --eps-forever 2 --rounds 30 --k 8",
    "CODE": "code --method ibu --to new --eps 1",
    "EARTH": "-p planar_laplace --grid 4x5 --radius 2",
    "AUDIT": "audit --k 10 --eps 1 --trials 20000",
    "METRIC": "--privacy metric --radius 2 --grid 5x6 --columns row,col",
}
# A command line, and what is said of it: one for each rule.
REFUSED = """
absent.csv -e 33 => between 1e-06 and 32, got 33
absent.csv -e 1,two => eps must be a number, got 'two'
absent.csv -e 1, => eps must be values with commas between them
absent.csv -e 0,5 => got '0' (decimals have a point, and a comma separates several)
absent.csv -e 0.5-2 => eps takes no range, got '0.5-2': give the budgets to compare, such as 0.5,1
-e 1 absent.csv --ordered --unordered => --ordered and --unordered are both given
-e 1 absent.csv -p ohl => did you mean 'olh'?
-e 1 absent.csv -p oue, => protocol is empty
-e 1 absent.csv --reps 50 --max-reps 20 => max-reps must be at least reps
-e 1 absent.csv --instant --reps 5 => --reps is for a simulation
-e 1 absent.csv -m l2:2 => metric l2 has no setting, got l2:2: topk, hotspots, set, kl, js, sets have one, as in topk:10
-e 1 absent.csv --k 4 -m topk:9 => topk and hotspots must look at no more than k=4 values, got 9
-e 1 absent.csv -m kl:0.1,js:0.2 => metric js:0.2 comes after the setting 0.1: give one of the two
-e 1 absent.csv --skew 1 => --skew is for a question without a sample
-e 1 absent.csv --why => --why explains a predicted answer
-e 1 absent.csv --other => --keep-top
-e 1 absent.csv --drop-missing --transactions => --drop-missing does not go with --transactions
-e 1 absent.csv --format jsn => did you mean 'json'?
-e 1 absent.csv --runs x.xls => .csv, .parquet
-e 1 absent.csv --skwe 1 => did you mean --skew?
-e 1 absent.csv another => unexpected extra argument
columns -e 1 absent.csv --n 5 --attributes 10 => attributes must be at most the number of users
columns -e 1 absent.csv --solution spl => solution goes with attributes
absent.csv -e => -e needs a value
--eps 1 --k 4 --k=5 => --k is given 2 times
--eps 1 fruit.csv --k 3 => 4 categories
--eps 1 fruit.csv -m emd => needs an ordered domain
--eps 1 fruit.csv --counts cuont => did you mean 'count'?
--eps 1 fruit.csv --keep-top 1 => --keep-top 1 leaves 1 of 4 labels; keep 2, or add --other
--eps 1 => SAMPLE is missing: give a file
--eps 1 --counts people.csv => give it too, people.csv --counts NAME
--eps 1 --k 9 --shape zip => did you mean 'zipf'
--eps 1 --k 9 --runs r.csv => --runs is for a simulation, and this answer is predicted
--eps 1 --k 9 --domain d.txt => --domain needs a sample, and none is given
pareto --eps 1,2 fruit.csv => this is answered for one ε at a time, got 1, 2
--why --eps 1,2 --k 8 => --why goes with one ε
--eps 1 --bins 1e9 absent.csv => at most 2,000,000
--eps 1 --bins 4 --bin-width 5 absent.csv => give either --bins or --bin-width, not both
--eps 1 --bin-width 7 --edges 0,100 absent.csv => does not divide the range from 0 to 100: end it at 105
--eps 1 --edges 5 absent.csv => edges must be two or more numbers
--eps 1 --edges 0,120 absent.csv => --edges with two numbers is one bin
--eps 1 --edges 30,18,0 absent.csv => edges must rise from one to the next, got 18 after 30
--eps 1 --edges 0,nan,5 absent.csv => every number in edges must be a number, got 'nan'
--eps 1 --edges 0,5,10 --bins 4 absent.csv => --edges beside --bins is the range
--eps 1 --unit years absent.csv => --unit goes with --bins, --bin-width or --edges
--eps 1 --bins 4 --clamp absent.csv => --clamp goes with --edges
--eps 1 --bins 4 --keep-top 8 --other absent.csv => --keep-top, --other do not go with bins
--eps 1 --bins 4 --unordered absent.csv => --unordered does not go with bins
sweep --eps 1 --bins 4 --clamp absent.csv => --clamp goes with --edges
columns --eps 1 THREE --k 50 => --k is about one column
columns --eps 1 THREE --attributes 3 => --attributes does not go with several columns
columns --eps 1 THREE --metric all => one metric at a time
columns --eps 1 THREE --fail-if-useless => --fail-if-useless is about one column
columns --eps 1 THREE --column height => no column 'height'
columns --eps 1 THREE --column 1 => names column 'age' twice
columns --eps 1 THREE --n 2 => n must be at least the number of columns, 3, got 2
--eps 1 --estimate oue --n 99 absent.csv => no option --estimate: it is a command, ldp-advise estimate
plan --reports oue absent.csv => --reports is no option of ldp-advise plan, but of ldp-advise audit
--eps 1 --hash mix64 absent.csv => --hash is no option of ldp-advise, but of ldp-advise reports
estimate --eps 1 absent.csv => --protocol and --n are missing: give the protocol that was used, for example
estimate -p oue --n 3000 estimate.csv => --eps is missing: give the privacy budget of one report, for example
estimate --eps 1 -p oue --n 300000 estimate.csv => check n, eps and the protocol
ESTIMATE -p grr absent.csv => takes one --protocol, got oue, grr
ESTIMATE -m l1 -m l2 --apply x.csv absent.csv => --apply writes one estimate
ESTIMATE => SAMPLE is missing: give the file with the estimate, or - for standard input
ESTIMATE absent.csv => absent.csv: no such file
ESTIMATE estimate.csv --apply x.csv --output x.csv => writes the same file; give each its own name
reports --eps 1 -p olh absent.csv => reports of olh do not tell how many categories there are; say so with --k
reports --eps 1 -p oue --subset-size 3 --k 8 few.txt => --subset-size: oue has no such parameter; leave it out
reports --eps 1 -p hr --blocks 3 --k 8 few.txt => the number of blocks is a power of 2 up to 2k = 16, got 3
reports --eps 1 -p ss --subset-size 8 --k 8 few.txt => the size of subsets of k=8 values is 1 to 7, got 8
reports --eps 1 -p oue --n 99 bits.txt => the file holds 3,000 reports, --n 99 was given: leave --n out
--eps 1 -q --output x.svg --plot x.svg fruit.csv => same file
--eps 1 --report page.html fruit.csv => exists
--eps 1 --k 16 --title x => --report
--eps 1 --k 8 --eps-forever 3 => --eps-forever is no option of ldp-advise, but of ldp-advise rounds
--eps 1 -q --method recover fruit.csv => method recover is a remedy for fake users: ask ldp-advise fakes
rounds => --rounds, --eps and SAMPLE are missing: give the number of collections
rounds --eps 2 --eps-forever 2 --rounds 3 --k 8 => must be below --eps-forever, that of all reports
rounds --eps 1 --rounds 3 --k 8 --changes 0.1 => --changes goes with --eps-forever
ROUNDS --changes 1.1 => changes must be a number between 0 and 1, got '1.1'
ROUNDS --changes 1 => changes must be at most 0.793 for these frequencies, got 1
ROUNDS --protocol ss => give --protocol one of grr, rappor, oue, blh, olh, got ss
ROUNDS --device-bits 9 => device-bits must be at most k=8, got 9
ROUNDS --metric l2 --attributes 3 => --metric, --attributes do not go with --eps-f
AUDIT -p grr --memoize => --eps-forever and --rounds are missing: give the budget of all reports
AUDIT -p grr --eps-forever 2 => --eps-forever needs --memoize
AUDIT -p grr --memoize --eps-forever 2 --rounds 1e4 => between 1 and 2,000
AUDIT -p grr --memoize --eps-forever 2 --rounds 3 --attack pair => does not go with such reports: give likelihood
pareto --eps 1 --k 50 -m l1 --metric l2 => pareto answers for one metric at a time, got l1, l2
places town.csv --eps 1 --privacy metric => --privacy metric needs --radius
places town.csv --eps 1 --radius 2 => --radius goes with --privacy metric
places town.csv --eps 1 --grid 5x6 --curve 1,2 => --curve goes with --privacy metric
places town.csv --eps 1 --channel own.csv => --grid or --cell-km is missing: give cells
places town.csv --eps 1 --grid 5x6 --no-header => --columns is missing: no headers say row and column
places fruit.csv -q --eps 1 --privacy metric --radius 2 => ordered domain
places town.csv METRIC --eps 2 -p oue => unknown protocol 'oue' here
places town.csv METRIC --eps 2 -m quantiles => not for places
plan => --target, --eps or --n and SAMPLE are missing
plan --detect 0.001 --n 100 --k 10 => a frequency of 0.001 is less than one of 100 users
plan --k 16 --n 3 --target 0.1 => at least 10
plan --k 16 --eps 1 --target 0.1 --n 1000 => no unknown is left
plan --k 16 --eps 1 --target 0.1 --detect 0.1 => not both
plan --k 16 --eps 1 --detect 0.1 --method norm_sub => --method goes with --target
plan --k 16 --eps 1 --detect 0.1 --skew 2 => --skew goes with --target: a detection takes
plan --k 16 --eps 1 --detect 0.1 --max-reps 40 => --max-reps goes with --target
plan --k 16 --eps 1 --target 0.1 --instant --max-reps 40 => --max-reps is for a simulation
plan --k 16 --eps 1 --target 0.1 -m l1 -m l2 => plan answers for one metric at a time, got l1, l2
plan --k 16 --eps 1 --target 0.1 --deployable --protocol oue => --deployable keeps grr, rappor, and the menu has oue
plan --target 0.1 --k 8 PROMISE --eps 1 => --eps does not go with --central-eps
plan --target 0.1 --k 8 --central-eps 1e-8 --delta 1e-8 => central-eps must be at least 1e-06 in a plan, got 1e-08
shuffler --k 8 --central-eps 1 => --central-eps needs --delta
shuffler --k 8 --delta 1e-8 => --delta goes with --central-eps
shuffler --k 8 PROMISE --eps 1 => --eps is no option of ldp-advise shuffler
shuffler --k 8 --central-eps 1e-9 --delta 1e-12 --n 1000 => kept by no reports of 1,000 users
epsilon --eps 1 --shuffle --n 100 => --shuffle needs --delta
epsilon --eps 1 --shuffle --delta 1e-8 => --n is missing
sweep => --eps, --n and --k are missing
sweep --eps 1 --n 1e4 --k 2M,1999999,1999998,1999997,1999996,1999995 => add up to at most
sweep --eps 1 --n 1e4 --k 4 -m l1 -m l2 => one metric at a time, got l1, l2
sweep --eps 1 --n 1e4 --k 4 --plot x.svg --plot-curves x.svg => same file
sweep --eps 1 --n 1e4 --k 4 --scheduler tcp://127.0.0.1:1 => --scheduler is for --backend dask
fakes -q --eps 1 fruit.csv --method recover_known --threat 0.1 => needs to know what fake users promote: give --targets
fakes -q --eps 1 fruit.csv --targets MA => targets goes with threat: give --threat SHARE
fakes -q --eps 1 fruit.csv --targets XX --threat 0.1 => targets must be categories, got XX
fakes -q --eps 1 fruit.csv --targets apple,banana,cherry,date --threat 0.1 => leave a category that is none
fakes -q --eps 1 fruit.csv -p she --threat 0.1 => threat needs a protocol that bounds what one report may claim, and she
fakes -q --eps 1 fruit.csv --threat 0.9999 => leaves no honest user among n=1000
fakes --eps 1 --k 50 --threat 0.05 => SAMPLE is missing: give a file
code --eps 1 --k 8 --to out -p oue --method recover => which code does not write: ldp-advise explain recover
--eps 1 fruit.csv --instant --bias => --instant does not go with --bias, which is simulated and no ranking
plan --target 0.1 -m kl:0 --eps 1 fruit.csv => kl:0 is infinite while an estimate may be 0: plan takes kl:X
--n 1000 --instant -m kl:0 --eps 1 fruit.csv => a prediction needs kl:0.0001, got kl:0
--n 1000 -m kl:1 --eps 1 fruit.csv => kl must be a number of at least 0 and below 1, got '1'
--eps 1 --k 8 --for decision => --for is about a page: give --report FILE.html too, or --format html
--eps 1,2 --k 8 --report x.html --for decision => --for goes with one ε: give one --eps
generate => --shape, --k and --n are missing: give the frequencies: --shape zipf:1.2, or --mean 50
generate --shape zipf --mean 3 --spread 1 --k 4 --n 9 => give either --shape, or --mean and --spread
generate --mean 3 --k 4 --n 9 => --mean and --spread go together
generate --mean 300 --spread 1 --k 4 --n 9 => mean 300 and spread 1 are never between 0 and 3
generate --shape zipf --k 4 --n 20M => n must be at most 10,000,000 rows, got 20,000,000: add --histogram
generate --shape zipf --k 4 --n 9 -o x.parquet => the suffix must be .csv, .txt, .dat, got '.parquet'
CODE -p planar_laplace => --grid and --radius are missing
CODE EARTH --k 20 => --k does not go with planar_laplace
CODE -p grr --grid 4x5 --radius 2 => --grid, --radius belongs to planar_geometric and planar_laplace, not to grr
CODE EARTH --centre 48,2 --cell-km 1 --labels cells.txt => --labels does not go with --centre
CODE EARTH --centre 48,2 => --cell-km is missing: give the side of a cell
CODE -p planar_laplace --grid 4x5 --centre 89,2 --cell-km 80 --radius 80 => the grid reaches over a pole
CODE EARTH --cell-km 3 => --radius must be at least the side of a cell, 3, got 2
CODE -p planar_geometric --grid 9x9 --radius 1e6 => noise spreads over
CODE -p planar_laplace --grid 4x5 --distance manhattan --radius 1e6 => must be from 0.0001 to 20, got 1e-06
code --method ibu --to new -p planar_laplace --grid 4x5 --radius 1 --eps 32 => must be from 0.0001 to 20, got 32
plan -p planar_laplace --eps 1 => planar_laplace is for places: ldp-advise places ranks it
audit => --k, --eps and --protocol are missing: give the domain size
audit --eps 1 --k 5 => --protocol is missing: give what to audit: --protocol NAME, --all
audit --all --eps 1 --k 5 --attack both => --attack both does not go with such reports: give guess or pair
audit --all --eps 1 --k 5 --values 1,5 => two different ones of 0..4
audit --all --protocol oue --eps 1 --k 5 => either --all or --protocol
audit --all --eps 1 --k 5 --reports oue --symbols 3 => --reports, --symbols needs --target
audit --all --eps 1 --k 5 --solution spl => --solution needs --attributes
audit --protocol olh --eps 1 --k 5 --attributes 2 --solution rsfd => fake data for grr, rappor, oue only
audit --all --eps 1 --k 5 --rounds 2 --attributes 2 => either --rounds or --attributes
audit --all --eps 1 --k 5 --rounds 2 --attack pair => does not go with such reports: give guess (likelihood
audit -p grr --eps 1 --k 5 --attack likelihood => (likelihood is for --memoize and --attributes, both for --target)
audit -p grr --eps 1 --k 5 --attributes 2 --attack pair => does not go with such reports: give likelihood or guess
audit -p grr --eps 1 --k 5 --attributes 2 --solution spl --attack likelihood => does not go with --solution spl
audit -p grr --eps 1 --k 5 --attributes 2 --attack likelihood --lho 2 => --lho is about single reports
audit -p grr --eps 1 --k 5 --amplified => --amplified needs --attributes
audit -p grr --eps 1 --k 5 --sizes 3,5 => without --k and --attributes
audit -p grr --eps 1 --sizes 3 => at least two attributes
audit -p grr --eps 1 --sizes 3,5 --solution smp => --sizes does not go with --solution smp
audit -p grr --eps 1 --k 5 --device-bits 2 => --device-bits needs --memoize
audit --eps 1 --k 5 --memoize --rounds 2 --device-bits 1 --eps-forever 2 => --eps-forever is not for dbitflip alone
audit --eps 1 --k 5 --memoize --rounds 2 --device-bits 9 => bits must be between 1 and k=5, got 9
TWO --reports grr --k 20 --attack likelihood => does not go with such reports: give both or guess or pair
TWO --runs 2 => --runs does not go with --files
audit --all --eps 1 --k 1000000 --attributes 1000 => attributes times k must be at most 100,000,000
audit --all --eps 1e-5 --k 5 --attributes 20 => epsilon must be between 1e-06 and 32, got epsilon=5
audit --target a:b --eps 1 --k 5 => --reports PROTOCOL or --support
audit --target a:b --all --jobs 2 --eps 1 --k 5 --reports oue => --all, --jobs do not go with --target
audit --target a:b --eps 1 --k 5 --reports oue --hash xxh32 => --hash is for reports of blh or olh
audit --files right0.txt --eps 1 => --files needs at least two files, the reports of one true value in each
audit --files right0.txt absent.txt --eps 1 => absent.txt: no such file
audit --files right0.txt few.txt --eps 1 => few.txt has 2 reports, and so few cannot show a loss above 1: give
audit right0.txt right1.txt --eps 1 => audit takes no right0.txt without an option: --files for reports
TWO --k 20 => --k needs --reports PROTOCOL or --support with --files
TWO --values 0,1 --trials 50 => --values, --trials do not go with --files
TWO -p grr => --protocol does not go with --files
TWO --target a:b => give either --target, a client to call, or --files
TWO --reports grr --support a:b --k 20 => give either --reports or --support
TWO --reports grr --k 5 => (int): a report of grr is one value in 0..4
epsilon => give --eps, for example --eps 1 (known deployments have 1.67, Windows telemetry, to 14,
epsilon --eps 1 --odds 3 => give one of
epsilon --flip-prob 0.25 => needs the protocol
epsilon --flip-prob 0.25 --protocol olh => one of grr, rappor, oue
epsilon --flip-prob 0.25 --protocol grr => needs --k
epsilon --random-prob 0.1 --protocol oue --k 4 => is for grr
epsilon --p 0.2 --q 0.3 => p must be above q
epsilon --p 0.2 => go together
epsilon --p 0.75 --q 0.25 -p grr => p and q of grr needs --k
epsilon --p 0.75 --q 0.25 -p grr --k 4 => p + (k − 1) q is 1 in grr; got 1.5
epsilon --p 0.75 --q 0.25 -p ss --k 4 => p + (k − 1) q is the number of values
epsilon --p 0.75 --q 0.25 -p blh => q is 1/g in blh, g being 2; got 0.25
epsilon --p 0.75 --q 0.25 -p oue => p is 1/2 in oue; leave --protocol out for other bits; got 0.75
epsilon --p 0.75 --q 0.3 -p rappor => p is 1 − q in rappor
epsilon --p 0.75 --q 0.25 -p hr --k 4 => p and q alone do not decide the ε of hr
epsilon --eps 1 -p grr => --protocol grr goes with --k here
epsilon --flip-prob 1e-17 -p rappor => this states ε = 78.3, outside of 1e-06 to 32
code => --protocol, --method, --eps, --k and --to are missing
code OLH --k 32 => --to is missing: give a directory to write
code -p grr --method em --eps 1 --k 4 --to new => method em is not for reports of grr
code -p sw --method norm_sub --eps 1 --k 4 --to new => ldp-advise --eps 1 --k 4 --ordered --protocol sw ranks those
code -p grr,oue --method none --eps 1 --k 4 --to new => takes one --protocol
code -p grr --method none --eps 1 --k 4 --hash xxh32 --to new => to blh and olh
code OLH --k 32 --labels labels.txt --to new => --k is 32, but --labels labels.txt has 3 labels
code OLH --labels one.txt --to new => a question has at least 2 answers
code -p oue --method posterior_mean --eps 1 --k 8 --to new => method posterior_mean is not compared by name
code answer.json --eps 1 --to new => --eps does not go with a saved answer
knowledge rules --metric l3 => unknown metric 'l3'
knowledge rules --metric emd --unordered => emd needs an ordered domain
knowledge cells => --eps and --k are missing
knowledge cells --eps 1 --k 9 --column a --keep-top 2 => --column, --keep-top needs a sample, and none is given
knowledge cells --eps 1 --k 9 --top 101 => --top must be at most 100
knowledge build --scheduler tcp://x:1 --to built => --scheduler is for --backend dask
choose => --n, --k, --within, --sensitive and --times are missing: give the number of people
choose --n 2000 --k 18 --within 1 --times 1 => --sensitive is missing: give low, medium
choose --counts c --k 9 --n 2e4 --within 1 --sensitive low --times 1 => --counts needs a sample, and none is
cite l1 => 'l1' is no protocol, no method, and no JSON file of an answer
explain l1 --bibtex => l1 names no source: --bibtex is for protocols and methods
explain norm_sub --eps 1 --k 4 => --eps, --k do not go with norm_sub, a method: only the code of protocols is
--eps 1 THREE => ldp-advise columns SAMPLE --column age --column 'colour, main' --column town
plan --target 0.1 --eps 1 THREE => takes one --column
places '' => the file name is empty: name a file, or - for standard input
knowledge inf => knowledge has no command 'inf'; did you mean 'info'?
--k 32 --shape sparse:1e160 --eps 1 => sparse
--apply x => --apply is no option of ldp-advise, but of ldp-advise estimate, ldp-advise reports
-e 1 -m norm_sub -r 10 -d x => there is no option -r: here it is --reps N --max-reps N
-e 1 --k 8 -m norm_sub => unknown metric 'norm_sub': it is a method, give --method norm_sub
-e 1 --k 8 --method KL => unknown method 'KL': it is a metric, give --metric KL
audit --eps 1 -p grr,planar_laplace --grid 4x5 --radius 2 => grr does not go with planar_laplace
audit --eps 1 -p planar_laplace => --grid and --radius are missing
audit --eps 1 -p planar_laplace --grid 4x5 --radius 2 --k 20 --rounds 2 => --k, --rounds do not go with planar_laplace
audit --eps 1 -p planar_laplace --grid 4x5 --radius 2 --values 0,20 => values must be two different ones of 0..19
reports => FILES, --protocol and --eps are missing: give
"""


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "fruit.csv": "fruit,count\napple,490\nbanana,300\ncherry,150\ndate,60\n",
        "town.csv": "row,col,count\n" + "".join(f"{r},{c},{(r + 1) * (c + 1)}\n" for r in range(5) for c in range(6)),
        "people.csv": 'age,"colour, main",town\n' + "".join(f"{i % 40},{i % 2},{i % 7}\n" for i in range(300)),
        "estimate.csv": estimate_text(raw()),
        "bits.txt": report_lines("oue", reports("oue")),
        "right0.txt": "0\n7\n" * 1500,
        "right1.txt": "1\n7\n" * 1500,
        "few.txt": "1\n0\n",
        "labels.txt": "a\nb\nc\n",
        "one.txt": "a\n",
        "page.html": "mine",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")


def words_of(line):
    for name, words in SHORT.items():
        line = re.sub(rf"\b{name}\b", lambda _, words=words: words, line)
    return shlex.split(line)


def test_what_is_refused_is_refused_in_one_line_that_says_why_and_writes_nothing(run):
    before = {path: path.read_bytes() for path in Path().iterdir()}

    def check(line):
        typed, said = line.split(" => ")
        err = refused(run, *words_of(typed))
        assert err.startswith("ldp-advise: error: ")
        assert said in err
        assert {path: path.read_bytes() for path in Path().iterdir()} == before

    assert failures(REFUSED.strip().splitlines(), check) == {}


@over(
    [
        ("advice", "ESTIMATE --k 9 estimate.csv --format json"),
        ("advice", "-e bad -o x.json fruit.csv"),
        ("audit", "audit --all --eps nan --k 10 --format json"),
        ("audit", "audit --nosuch --format json"),
    ]
)
def test_an_error_is_json_where_the_answer_would_have_been(name, line, *, run):
    code, out, err = run(*words_of(line))
    data = json.loads(out)
    schema(name).validate(data)
    assert (code, set(data)) == (2, {"schema_version", "tool_version", "error"})
    assert data["error"]["message"] in err


def test_a_mistyped_command_is_named_whatever_else_is_wrong(run):
    for words in (["swep"], ["estimat", "x.csv", "--eps", "1"], ["report", "--bogus"]):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert err.startswith(f"ldp-advise: error: {words[0]}: neither a file nor a command; did you mean ")
        Path(words[0]).write_text("a\nb\n", encoding="utf-8")  # now it is a sample
        assert "nor a command" not in run(*words)[2]


@pytest.mark.parametrize("error", [MemoryError("Unable to allocate 3 TiB"), RecursionError("maximum depth")])
def test_exhaustion_is_one_line(run, monkeypatch, error):
    def exhausted(*_):
        raise error

    monkeypatch.setattr("advisor.cli.commands.run", exhausted)
    err = refused(run, "epsilon", "--eps", "1")
    assert "Unable to allocate 3 TiB" in err or "nested too deeply" in err


def test_warnings_to_programmers_are_not_for_users(run, monkeypatch):
    def warned(*_):
        warnings.warn("overflow encountered in exp", RuntimeWarning, stacklevel=1)
        warnings.warn("a plug-in says \x1b[31mboo", UserWarning, stacklevel=1)

    monkeypatch.setattr("advisor.cli.commands.run", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("epsilon", "--eps", "1") == (0, "", "warning: a plug-in says \\x1b[31mboo\n")


def test_a_missing_matplotlib_is_told_before_anything_else_and_leaves_pages_their_tables(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    needs = "needs matplotlib: pip install 'ldp-advise[plot]'"
    for line in ("-q --eps 1 --plot x.png fruit.csv", "pareto -q --eps 1 --k 50 --plot x.png"):
        assert needs in refused(run, *line.split())
    code, page, _ = run("-q", "--eps", "4", "--k", "8", "-p", "grr", "--method", "none", "--format", "html")
    assert (code, needs.replace("'", "&#39;") in page, "<td" in page) == (0, True, True)


def test_python_names_keywords_where_the_command_names_options():
    counts, promise = [40, 30, 20, 10], {"promise": CentralPromise(central_epsilon=1.0, delta=1e-6)}
    cells = [
        (memoise, {"eps": 1}, "epsilon_forever=, rounds= and sample= are missing"),
        (memoise, {"eps": 2, "epsilon_forever": 1, "rounds": 3, "k": 8}, "must be below epsilon_forever="),
        (plan, {"target": 0.1, "eps": 1.0, "sample_counts": counts, "shape": 1.0}, "shape= is for a question without"),
        (plan, {"target": 0.1, "k": 4}, "eps= or n= is missing"),
        (advise, {"eps": 1.0}, "k= is missing"),
        (advise, {"eps": 1.0, "k": 10, "limits": 8}, r"limits must be limits=Limits\(\.\.\.\)"),
        (advise, {"eps": 1.0, "k": 10, "threat": Limits()}, r"threat must be threat=Threat\(\.\.\.\)"),
        (advise, {"eps": 1.0, "k": 10, "metric": "topk:3"}, "give a sample"),
        (advise, {"k": 8, "eps": 1.0, **promise}, "eps= does not go with central_epsilon"),
        (advise, {"k": 8, **promise, "plurality": Plurality(attributes=3)}, "attributes= does not go with central_eps"),
        (advise, {"eps": 1.0, "k": 50, "threat": 0.05}, "threat= needs a simulation"),
        (advise, {"eps": 1.0, "sample_counts": counts, "instant": True, "threat": 0.05}, "threat= needs a simul"),
    ]

    def check(cell):
        function, options, said = cell
        with pytest.raises(InputError, match=said) as caught:
            function(**options)
        assert not re.search("\n|--[a-z]|SAMPLE", str(caught.value))

    assert failures(cells, check) == {}


@over(["steps:0", "dirichlet:0", "sparse:2", "uniform:7", "geometric:0", "gaussian:-1"])
def test_a_shape_with_a_parameter_that_means_nothing_is_refused(shape):
    with pytest.raises(InputError, match=f"shape {shape.partition(':')[0]} has no valid frequencies at"):
        advise(1.0, k=16, shape=shape)
