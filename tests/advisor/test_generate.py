import io
import json
from itertools import product

from simulator.populations import apportion, drawn, frequencies, normal
from tests.advisor.inputs.reading import read_bytes, users
from tests.cells import over

ZIPF = ("generate", "--shape", "zipf:1.2", "--k", "8")
NORMAL = ("generate", "--mean", "3.5", "--spread", "1", "--k", "8")
LAWS = {ZIPF: frequencies("zipf", 8, 1.2), NORMAL: normal(8, 3.5, 1)}


@over(product(LAWS, [(), ("--apportioned",)], [0, 7]))
def test_a_data_set_is_read_as_it_was_made(words, how, seed, *, run):
    counts = apportion(LAWS[words], 500) if how else drawn(LAWS[words], 500, seed=seed)
    given = (*words, *how, "--n", "500", "--seed", str(seed))
    code, rows, err = run(*given)
    assert (code, err) == (0, "")
    assert users(read_bytes(rows.encode())) == {str(v): u for v, u in enumerate(counts.tolist()) if u}
    table = run(*given, "--histogram")[1]
    assert table.startswith("value,count\n0,")
    read = read_bytes(table.encode())
    assert read.from_histogram
    assert users(read) == {str(value): count for value, count in enumerate(counts.tolist())}
    assert rows == run(*given)[1]


def test_a_data_set_goes_through_a_pipe_into_an_answer(run, monkeypatch):
    for form in ((), ("--histogram",)):
        rows = run(*ZIPF, "--n", "2000", *form)[1]
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
        out = run("--eps", "1", "-p", "oue", "--method", "none", "--reps", "2", "--format", "json", "-")[1]
        request = json.loads(out)["request"]
        assert (request["n"], request["k"]) == (2000, 8)
