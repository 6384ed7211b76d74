import re
import sys
from pathlib import Path

import pytest

from advisor import CentralPromise, InputError, Limits, Plurality, advise, memoise, plan
from tests.advisor.cli_answers import refused
from tests.cells import failures, over

FILES = {
    "fruit.csv": "fruit,count\napple,490\nbanana,300\ncherry,150\ndate,60\n",
    "town.csv": "row,col,count\n" + "".join(f"{r},{c},{(r + 1) * (c + 1)}\n" for r in range(5) for c in range(6)),
    "raw.csv": "value,estimate\na,0.6\nb,0.3\nc,0.12\nd,-0.02\n",
    "page.html": "mine",
}
# Words that stand for several.
SHORT = {
    "PROMISE": "--central-eps 1 --delta 1e-8",
    "ROUNDS": "rounds --eps 1 --eps-forever 2 --rounds 30 --k 8",
    "CODE": "code --method ibu --to new --eps 1",
    "EARTH": "-p planar_laplace --grid 4x5 --radius 2",
    "AUDIT": "audit --k 10 --eps 1 --trials 20000",
    "METRIC": "--privacy metric --radius 2 --grid 5x6 --columns row,col",
}
# A command line, and what is said of it.
REFUSED = """
--eps 1 --plot x.bmp fruit.csv => suffix must be
--eps 1 --plot-frequencies x fruit.csv => suffix must be
--eps 1 -q --output x.svg --plot x.svg fruit.csv => same file
--eps 1 --report x.pdf fruit.csv => suffix must be .html
--eps 1 --report page.html fruit.csv => exists
--eps 1 --k 16 --title x => --report
--eps 1 --k 8 --eps-forever 3 => --eps-forever is no option of ldp-advise, but of ldp-advise rounds
--eps 1 --grid 5x6 town.csv => --grid is no option of ldp-advise, but of ldp-advise explain, ldp-advise places
--eps 1 --privacy metric town.csv => --privacy is no option of ldp-advise, but of ldp-advise places
--eps 1 -q --method recover fruit.csv => method recover is a remedy for fake users: ask ldp-advise fakes
rounds => --rounds, --eps and SAMPLE are missing: give the number of collections
rounds --eps-forever 2 --rounds 3 => --eps and SAMPLE are missing: give the privacy budget
rounds --eps 2 --eps-forever 2 --rounds 3 --k 8 => must be below --eps-forever, that of all reports
rounds --eps 1 --rounds 3 --k 8 --changes 0.1 => --changes goes with --eps-forever
ROUNDS --changes 1.1 => changes must be a number between 0 and 1, got '1.1'
ROUNDS --changes -0.1 => changes must be a number between 0 and 1, got '-0.1'
ROUNDS --changes 1 => changes must be at most 0.793 for these frequencies, got 1
ROUNDS --protocol ss => give --protocol one of grr, rappor, oue, blh, olh, got ss
ROUNDS --device-bits 9 => device-bits must be at most k=8, got 9
ROUNDS --metric l2 --attributes 3 => --metric, --attributes does not go with --eps-f
ROUNDS --why --matrix => --why, --matrix does not go with --eps-forever
ROUNDS --column a => --column needs a sample, and none is given
AUDIT -p grr --memoize => --eps-forever and --rounds are missing: give the budget of all reports
AUDIT -p grr --eps-forever 2 => --eps-forever needs --memoize
AUDIT -p ss --memoize --eps-forever 2 --rounds 3 => one of grr, rappor, oue, blh, olh
AUDIT -p grr --memoize --eps-forever 1 --rounds 3 => must be below --eps-forever
AUDIT -p grr --memoize --eps-forever 2 --rounds 1e4 => between 1 and 2,000
AUDIT -p grr --memoize --eps-forever 2 --rounds 3 --attack pair => --attack does not go with --memoize
pareto => --eps and SAMPLE are missing
pareto --k 8 PROMISE --eps 1 => --eps does not go with --central-eps
pareto --eps 1 --k 50 -m l1 --metric l2 => pareto answers for one metric at a time, got l1, l2
pareto --eps 1 --k 50 --plot x.gif => the suffix must be .png, .svg, .pdf, got '.gif'
pareto --eps 1 --k 50 --column 2 => --column needs a sample, and none is given
pareto --eps 1 --k 50 --reps 30 => --reps is for a simulation
places town.csv --eps 1 --privacy metric => --privacy metric needs --radius
places town.csv --eps 1 --privacy metrik => did you mean 'metric'
places town.csv --eps 1 --radius 2 => --radius goes with --privacy metric
places town.csv --eps 1 --grid 5x6 --curve 1,2 => --curve goes with --privacy metric
places town.csv --eps 1 --radius -2 --privacy metric => above 0
places town.csv --eps 1 --channel own.csv => --grid or --cell-km is missing: give cells
places town.csv --eps 1 --grid 5x6 --no-header => --columns is missing: no headers say row and col
places fruit.csv -q --eps 1 --privacy metric --radius 2 => ordered domain
places town.csv METRIC => --eps is missing
places town.csv METRIC --eps 2 --distance chess => distance must be one of euclidean, manhattan
places town.csv METRIC --eps 2 -p oue => unknown protocol 'oue' here
places town.csv METRIC --eps 2 -m quantiles => not for places
places town.csv METRIC --eps 2 --plot map.jpg => suffix must be
plan => --target, --eps or --n and SAMPLE are missing
plan --detect 0.001 --n 100 --k 10 => a frequency of 0.001 is less than one of 100 users
plan --k 16 --n 3 --target 0.1 => at least 10
plan --k 16 --eps 1 --target 0 => target must be a number above 0
plan --k 16 --eps 1 --target nan => target must be a number above 0
plan --k 16 --eps 1 --target 0.1 --n 1000 => no unknown is left
plan --k 16 --eps 1 --target 0.1 --detect 0.1 => not both
plan --k 16 --eps 1 --detect 1.5 => above 0 and below 1
plan --k 16 --eps 1 --detect 0.1 --method norm_sub => --method goes with --target
plan --k 16 --eps 1 --detect 0.1 --metric l1 => --metric goes with --target
plan --k 16 --eps 1 --target 0.1 -m l1 -m l2 => plan answers for one metric at a time, got l1, l2
plan --k 16 --eps 1 --target 0.1 --column x => needs a sample, and none is given
plan --k 16 --eps 1 --target 0.1 --deployable --protocol oue => --deployable keeps grr, rappor, and the menu has oue
plan --target 0.1 --k 8 PROMISE --n 100 => --n does not go with --central-eps
plan --target 0.1 --k 8 PROMISE --eps 1 => --eps does not go with --central-eps
plan --target 0.1 --k 8 --central-eps 1e-8 --delta 1e-8 => central-eps must be at least 1e-06 in a plan, got 1e-08
shuffler --k 8 --central-eps 1 => --central-eps needs --delta
shuffler --k 8 --delta 1e-8 => --delta goes with --central-eps
shuffler --k 8 --central-eps 1 --delta 1 => delta must be a number above 0 and below 1, got '1'
shuffler --k 8 --central-eps 1 --delta 0 => delta must be a number above 0 and below 1, got '0'
shuffler --k 8 --central-eps 0 --delta 0.1 => central-eps must be a number between 1e-09 and 32, got '0'
shuffler --k 8 PROMISE --eps 1 => --eps is no option of ldp-advise shuffler
shuffler --k 8 --central-eps 1e-9 --delta 1e-12 --n 1000 => kept by no reports of 1,000 users
epsilon --eps 1 --shuffle --n 100 => --shuffle needs --delta
epsilon --eps 1 --shuffle --delta 1e-8 => --n is missing
epsilon --eps 1 --delta 1e-8 => --delta goes with --shuffle
epsilon --eps 1 --n 100 => --n goes with --shuffle
sweep => --eps, --n and --k are missing
sweep --eps 1 --n 0 --k 4 => at least 1
sweep --eps 1 --n 1e4 --k 1 => at least 2
sweep --eps 1 --n 1e4 --k 1e9 => at most 2,000,000
sweep --eps 1 --n 1e4 --k 2M,1999999,1999998,1999997,1999996,1999995 => add up to at most
sweep --eps 1 --n 1e4 --k 4 -m l1 -m l2 => one metric at a time, got l1, l2
sweep --eps 1 --n 1e4 --k 4 --header => --header needs a sample, and none is given
sweep --eps 1 --n 1e4 --k 4 --plot x.bmp => .png, .svg, .pdf
sweep --eps 1 --n 1e4 --k 4 --plot x.svg --plot-curves x.svg => same file
sweep --eps 1 --n 1e4 --k 4 --resume /nowhere/x => no directory
sweep --eps 1 --n 1e4 --k 4 --resume - => needs the name of a file
sweep --eps 1 --n 1e4 --k 4 --scheduler tcp://127.0.0.1:1 => --scheduler is for --backend dask
fakes -q --eps 1 fruit.csv --method recover_known --threat 0.1 => needs to know what fake users promote: give --targets
fakes -q --eps 1 fruit.csv --targets MA => targets goes with threat: give --threat SHARE
fakes -q --eps 1 fruit.csv --targets XX --threat 0.1 => targets must be categories, got XX
fakes -q --eps 1 fruit.csv -p she --threat 0.1 => threat needs a protocol that bounds what one report may claim, and she
fakes -q --eps 1 fruit.csv --threat 1.5 => threat must be a number above 0 and below 1, got '1.5'
fakes -q --eps 1 fruit.csv --threat 0.9999 => leaves no honest user among n=1000
fakes --eps 1 --k 50 --threat 0.05 => SAMPLE is missing: give a file
code --eps 1 --k 8 --to out -p oue --method recover => which code does not write: ldp-advise explain recover
--eps 1 fruit.csv --instant --bias => --instant does not go with --bias, which is simulated and no ranking
--eps 1 fruit.csv --runs runs.csv --bias => --runs does not go with --bias, which is simulated and no ranking
--eps 1,2 fruit.csv --bias => --bias goes with one ε: give one --eps
--eps 1 fruit.csv --max-bits 1 --bias => Nothing is left to rank
plan --target 0.1 -m kl:0 --eps 1 fruit.csv => kl:0 is infinite while an estimate may be 0: plan takes kl:X
--n 1000 --instant -m kl:0 --eps 1 fruit.csv => a prediction needs kl:0.0001, got kl:0
--n 1000 -m kl:1 --eps 1 fruit.csv => kl must be a number of at least 0 and below 1, got '1'
--n 1000 -m kl:-0.1 --eps 1 fruit.csv => kl must be a number of at least 0 and below 1, got '-0.1'
--eps 1 --k 8 --for decision => --for is about a page: give --report FILE.html too, or --format html
--eps 1,2 --k 8 --report x.html --for decision => --for goes with one ε: give one --eps
plan PROMISE --target 0.1 --k 8 --report x.html --for decision => --central-eps, --delta does not go with --for
rounds --eps 1 --rounds 2 --k 8 --report x.html --for decision => --for
generate => --shape, --k and --n are missing: give the frequencies: --shape zipf:1.2, or --mean 50
generate --shape zipf --mean 3 --spread 1 --k 4 --n 9 => give either --shape, or --mean and --spread
generate --mean 3 --k 4 --n 9 => --mean and --spread go together
generate --mean 3 --spread 0 --k 4 --n 9 => spread must be a number above 0
generate --mean 300 --spread 1 --k 4 --n 9 => mean 300 and spread 1 are never between 0 and 3
generate --shape zipff --k 4 --n 9 => did you mean 'zipf'?
generate --shape zipf --k 4 --n 20M => n must be at most 10,000,000 rows, got 20,000,000: add --histogram
generate --shape zipf --k 4 --n 9 -o x.parquet => the suffix must be .csv, .txt, .dat, got '.parquet'
generate --shape zipf --k 4 --n 9 -o x.csv.gz => the suffix must be .csv, .txt, .dat, got '.gz'
CODE -p planar_laplace => --grid and --radius are missing
CODE EARTH --k 20 => --k does not go with planar_laplace
CODE -p grr --grid 4x5 --radius 2 => --grid, --radius belongs to planar_geometric and planar_laplace, not to grr
CODE -p planar_laplace --grid 4 --radius 2 => --grid must be ROWSxCOLS
CODE EARTH --centre 48,2 --cell-km 1 --labels cells.txt => --labels does not go with --centre
CODE EARTH --centre 48,2 => --cell-km is missing: give the side of a cell
CODE EARTH --centre 48 --cell-km 1 => centre must be latitude and longitude
CODE -p planar_laplace --grid 4x5 --centre 89,2 --cell-km 80 --radius 80 => the grid reaches over a pole
CODE EARTH --cell-km 3 => --radius must be at least the side of a cell, 3, got 2
CODE -p planar_geometric --grid 9x9 --radius 1e6 => noise spreads over
CODE -p planar_laplace --grid 4x5 --distance manhattan --radius 1e6 => must be from 0.0001 to 20, got 1e-06
code --method ibu --to new -p planar_laplace --grid 4x5 --radius 1 --eps 32 => must be from 0.0001 to 20, got 32
plan -p planar_laplace --eps 1 => planar_laplace is for places: ldp-advise places ranks it
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("folder")
@over(REFUSED.strip().splitlines())
def test_what_is_refused_is_refused_in_one_line_that_says_why(line, *, run):
    typed, said = line.split(" => ")
    words = [word for one in typed.split() for word in SHORT.get(one, one).split()]
    assert said in refused(run, *words)
    assert {path.name for path in Path().iterdir()} == {*FILES}


@pytest.mark.usefixtures("folder")
def test_a_missing_matplotlib_is_told_before_anything_else(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for line in ("--plot x.png fruit.csv", "--k 50 --plot x.png"):
        err = refused(run, *(["pareto"] if "--k" in line else []), "-q", "--eps", "1", *line.split())
        assert "needs matplotlib: pip install 'ldp-advise[plot]'" in err


@pytest.mark.usefixtures("folder")
def test_a_page_without_matplotlib_has_its_tables_and_says_what_draws(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, page, _ = run("-q", "--eps", "1", "--k", "8", "-p", "grr", "--format", "html")
    assert (code, page.count("needs matplotlib: pip install &#39;ldp-advise[plot]&#39;")) == (0, 1)
    assert "<td" in page


def test_python_refuses_the_same():
    counts, promise = [40, 30, 20, 10], {"promise": CentralPromise(central_epsilon=1.0, delta=1e-6)}
    no_sample = "shape= is for a question without a sample: the frequencies are those of "
    cells = [
        (memoise, {"eps": 1}, "epsilon_forever=, rounds= and sample= are missing"),
        (memoise, {"eps": 2, "epsilon_forever": 1, "rounds": 3, "k": 8}, "must be below epsilon_forever="),
        (memoise, {"eps": 1, "epsilon_forever": 2, "rounds": 3, "sample_counts": counts, "shape": 1}, no_sample),
        (plan, {"target": 0.1, "eps": 1.0, "sample_counts": counts, "shape": 1.0}, no_sample),
        (plan, {"target": 0.1, "k": 4}, "eps= or n= is missing"),
        (advise, {"eps": 1.0}, "k= is missing"),
        (advise, {"eps": 1.0, "k": 10, "limits": 8}, r"limits must be limits=Limits\(\.\.\.\)"),
        (advise, {"eps": 1.0, "k": 10, "threat": Limits()}, r"threat must be threat=Threat\(\.\.\.\)"),
        (advise, {"eps": 1.0, "k": 10, "shape": -1}, "skew must be a number between 0 and 8, got -1"),
        (advise, {"eps": 1.0, "k": 10, "shape": "gaus"}, "did you mean 'gaussian'"),
        (advise, {"eps": 1.0, "k": 10, "shape": "gaussian:x"}, "takes a number"),
        (advise, {"eps": 1.0, "k": 10, "metric": "emd", "ordered": False}, "emd"),
        (advise, {"eps": 1.0, "k": 10, "metric": "topk:3"}, "give a sample"),
        (advise, {"eps": 1.0, "sample_counts": counts, "shape": 1.0}, no_sample),
        (advise, {"k": 8, "eps": 1.0, **promise}, "eps= does not go with central_epsilon"),
        (advise, {"k": 8, **promise, "plurality": Plurality(attributes=3)}, "attributes= does not go with central_eps"),
        (advise, {"eps": 1.0, "k": 50, "threat": 0.05}, "threat= needs a simulation"),
        (advise, {"eps": 1.0, "sample_counts": counts, "instant": True, "threat": 0.05}, "threat= needs a simul"),
    ]

    def refused(cell):
        function, options, said = cell
        with pytest.raises(InputError, match=said) as caught:
            function(**options)
        assert not re.search("\n|--[a-z]|SAMPLE", str(caught.value))

    assert failures(cells, refused) == {}


@over(["steps:0", "steps:0.5", "dirichlet:0", "sparse:0", "sparse:2", "uniform:7", "geometric:0", "gaussian:-1"])
def test_a_shape_with_a_parameter_that_means_nothing_is_refused(shape):
    with pytest.raises(InputError, match=f"shape {shape.partition(':')[0]} has no valid frequencies at"):
        advise(1.0, k=16, shape=shape)
