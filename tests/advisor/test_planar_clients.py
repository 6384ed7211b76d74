import ast
import json
import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import lambertw

from advisor import AttackSettings, Cells
from advisor.extensions.audit.command import audit
from advisor.extensions.code.answer import files_of
from advisor.extensions.code.collection import CodedCollection, client_file
from advisor.extensions.code.parameters import exact
from advisor.extensions.code.reports import module_of
from simulator.channels import PLANAR, epsilon_per_unit, finite_precision
from tests.advisor.client_laws import surprise
from tests.advisor.test_deployed_clients import NODE, client_of, makes_the_same_lines, seeded
from tests.cells import over

FALSE_ALARM = 1e-6  # of each test of a law
GRID = Cells(grid="4x5", radius=2.0)
ROUND_MANHATTAN = Cells(grid="4x5", radius=2.0, distance="manhattan")
ON_EARTH = Cells(grid="4x5", radius=3.0, cell_km=1.5, centre=(48.85, 2.35))
SETTINGS = list(product(PLANAR, (GRID, ROUND_MANHATTAN, ON_EARTH)))


def made(key, cells=GRID, epsilon=1.3, method="ibu"):
    return CodedCollection(key, method, cells.places.k, epsilon, cells=cells)


def is_lawful(source, key, cells, *, value=7, draws=6_000):
    """Whether reports of a client have the law of the matrix, which is summed or integrated without a client."""
    client, entropy = module_of(source), seeded(1)
    law = dict(enumerate(cells.channel(key, 1.3).matrix[value].tolist()))
    return surprise([client.randomised(value, entropy) for _ in range(draws)], law) > FALSE_ALARM


@over(SETTINGS)
def test_reports_have_the_law_of_the_matrix(key, cells):
    assert is_lawful(client_file(made(key, cells)), key, cells)


FAULTS = [
    ("planar_geometric", "return root + (root**2 < square)", "return FALL * (abs(down) + abs(across))"),
    ("planar_laplace", "distance * math.cos(angle)", "distance * math.sin(angle)"),
    ("planar_laplace", "(math.floor(shift + 0.5)", "(math.floor(shift)"),
]


@over(FAULTS)
def test_a_client_with_a_fault_is_found(key, right, wrong):
    source = client_file(made(key))
    assert source.count(right) == 1
    assert not is_lawful(source.replace(right, wrong), key, GRID, draws=3_000)


def test_probabilities_of_whole_cells_keep_the_promise_exactly():
    """The cost is the least whole number of at least FALL times the distance, so no ratio exceeds the promise."""
    client, epsilon = client_of(made("planar_geometric", epsilon=0.7)), exact(0.7)
    for down, across in product(range(-40, 41), range(41)):
        cost, square = client.cost(down, across), client.FALL**2 * (down**2 + across**2)
        assert (square <= cost**2 and (cost - 1) ** 2 < square) or cost == square == 0
    worst = Fraction(0)
    for down, across, right in product(range(-9, 10), range(-9, 10), range(1, 4)):
        gap = abs(client.cost(down, across) - client.cost(down, across - right))
        worst = max(worst, Fraction(gap, client.UNIT * right))
    assert epsilon / 2 * Fraction(999_999, 1_000_000) < worst <= epsilon / 2


def test_clients_of_whole_cells_have_no_floating_point():
    tree = ast.parse(client_file(made("planar_geometric", epsilon=2.0)))
    nodes = [node for statement in tree.body if "EPSILON" not in ast.unparse(statement) for node in ast.walk(statement)]
    assert not [node for node in nodes if isinstance(node, ast.Div)]
    assert not [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, float)]


def exact_distance(tail):
    """The distance where ``(1 + x) exp(-x)`` is the tail, to 30 digits."""
    with localcontext(prec=40):
        log = Decimal(tail).ln()
        x = 1 - 2 * log
        step = x
        while abs(step) > x / 10**30:
            step = ((1 + x).ln() - x - log) * (1 + x) / x
            x += step
        return x


def test_the_radius_is_that_of_lambert_and_tails_have_all_digits():
    """Half of the precision that the budget covers, relative to the distance or to the scale of the noise."""
    client = client_of(made("planar_laplace"))
    tails = [*(10.0 ** -np.arange(1.0, 38.0)), *(1 - 10.0 ** -np.arange(1.0, 9.0)), *np.linspace(0.01, 0.99, 99)]
    for tail in map(float, tails):
        distance = exact_distance(tail)
        assert (
            abs(Decimal(client.radius(tail)) * Decimal(client.RATE) - distance) <= max(1, distance) * Decimal(2) ** -49
        )
        if tail < 0.99:
            assert float(distance) == pytest.approx(-1 - lambertw(-tail / math.e, -1).real, rel=1e-9)
    assert exact_distance(2.0**-129) < 95  # no distance is longer
    assert client.share(lambda count: bytes(count)) == 2.0**-129
    assert client.share(lambda count: b"\xff" * count) == 1.0
    assert 0 <= client.radius(1.0) < 1e-7


@pytest.mark.parametrize("epsilon", [0.5, pytest.param(3.0, marks=pytest.mark.slow)])
def test_cells_of_noise_have_the_mass_of_their_squares(epsilon):
    """SciPy's quadrature of the density over each square around the source; what is further out is one more cell."""
    client, entropy, reach = client_of(made("planar_laplace", Cells(grid="4x5", radius=1.0), epsilon)), seeded(2), 2

    def density(x, y):
        return epsilon**2 / (2 * math.pi) * math.exp(-epsilon * math.hypot(x, y))

    law = {}
    for down, across in product(range(-reach, reach + 1), repeat=2):
        halves = [(low, high) for low, high in ((across - 0.5, across), (across, across + 0.5))]
        mass = [dblquad(density, down - 0.5, down + 0.5, low, high, epsabs=1e-9)[0] for low, high in halves]
        law[down, across] = sum(mass)
    law["far"] = 1 - sum(law.values())
    cells = [tuple(math.floor(shift + 0.5) for shift in client.offset(entropy)) for _ in range(10_000)]
    assert surprise([cell if max(map(abs, cell)) <= reach else "far" for cell in cells], law) > FALSE_ALARM


def test_the_budget_covers_coordinates_of_few_digits():
    """Enumerated: with 2^10 angles, cells of step 1 up to 12 away leak more than ε, and less than what is reckoned."""
    epsilon, angles, reach, size = 0.5, 2**10, 12.0, 41
    radii = np.sqrt((np.arange(10_000) + 0.5) / 10_000) * reach * 1.5  # rings of equal area
    mass, middle = np.zeros((size, size)), size // 2
    for turn in 2 * math.pi * np.arange(angles) / angles:
        at = np.floor(np.outer([math.sin(turn), math.cos(turn)], radii) + 0.5).astype(int) + middle
        np.add.at(mass, (at[0], at[1]), np.exp(-epsilon * radii))
    far = np.hypot(*(np.indices((size, size)) - middle))
    near = np.maximum(far[:, 1:], far[:, :-1]) <= reach
    worst = np.abs(np.log(mass[:, 1:][near] / mass[:, :-1][near])).max()
    assert 1.05 * epsilon < worst < finite_precision(epsilon, reach, 2 * math.pi / angles) < 2 * epsilon
    assert finite_precision(epsilon, 1e9, 2.0**-10) == math.inf


@over(SETTINGS)
def test_the_matrix_and_the_constants_keep_the_budget(key, cells):
    parameters, places = made(key, cells).parameters, cells.places
    assert 1.3 * (1 - 1e-9) < float(parameters.exact_epsilon) <= 1.3
    for radius, epsilon in product((1.0, 3.7, 100.0), (0.01, 1.0, 19.9)):
        if cells.cell_km is None and (epsilon / radius > 0.01 or cells.distance):
            extreme = made(key, replace(cells, grid="2x2", radius=radius), epsilon).parameters
            assert extreme.kept
            assert float(extreme.exact_epsilon) > 0.999 * epsilon
    assert epsilon_per_unit(cells.channel(key, 1.3), places) <= 1.3 / (cells.radius or 1) * (1 + 1e-9)


def test_clients_take_degrees_and_give_them_back():
    client = client_of(made("planar_geometric", ON_EARTH))
    for cell in range(20):
        assert client.cell_of(*client.degrees_of(cell)) == cell
    (north, west), (south, east) = client.degrees_of(0), client.degrees_of(6)
    assert (north - south) * 40_007.863 / 360 == pytest.approx(1.5)
    assert (east - west) * 40_007.863 / 360 * math.cos(math.radians(48.85)) == pytest.approx(1.5)
    assert client.cell_of(90, -180) == 0  # off the grid
    assert client.report((48.85, 2.35)) in map(str, range(20))
    for place in ((91, 0), (0, 181), (math.nan, 0)):
        with pytest.raises(ValueError, match="latitude and longitude"):
            client.report(place)


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_both_languages_make_the_same_lines_from_the_same_bytes(tmp_path):
    makes_the_same_lines(
        tmp_path, [made(key, cells, epsilon) for (key, cells), epsilon in product(SETTINGS, (0.2, 1.3, 9.0))]
    )


@pytest.mark.parametrize("key", PLANAR)
def test_code_writes_a_collection_of_places(key, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("-p", key.replace("_", "-"), "--method", "ibu", "--eps", "1.3", "--grid", "4x5", "--radius", "2")
    code, out, _ = run("code", *words, "--to", key, "--format", "json")
    data = json.loads(out)
    assert (code, data["grid"], data["radius"], data["k"]) == (0, "4x5", 2.0, 20)
    files = files_of(made(key))
    assert {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / key).iterdir()} == files
    lines = [each["report"] for each in json.loads(files["test_vectors.json"])["vectors"]]
    (tmp_path / "lines.csv").write_text("".join(f"{line}\n" for line in lines))
    with monkeypatch.context() as patch:
        patch.setattr("sys.argv", ["server.py", "lines.csv"])
        module = module_of(files["server.py"])
    np.testing.assert_allclose(module.frequencies, json.loads(files["test_vectors.json"])["frequencies"], rtol=1e-12)


@over(PLANAR)
def test_mechanisms_are_explained_with_what_their_matrix_leaks(key, *, run):
    words = ("--eps", "1.3", "--grid", "4x5", "--radius", "2")
    explained = json.loads(run("explain", key, *words, "--format", "json")[1])
    assert explained["client"] == client_file(made(key))
    channel = GRID.channel(key, 1.3)
    names = {}
    exec(compile(explained["python"], "script", "exec"), names)  # noqa: S102 - what is tested is that it runs
    np.testing.assert_array_equal(names["protocol"].matrix, channel.matrix)


@over([(key, *values) for key in PLANAR for values in ((0, 1), (3, 16))])
def test_an_audit_holds_trials_against_the_distance_and_the_matrix(key, first, second, *, run):
    """False alarm: 1e-4 for each of 4 audits, and for each comparison with the analytic value."""
    words = ("-p", key, "--eps", "1.3", "--grid", "4x5", "--radius", "2", "--values", f"{first},{second}")
    asked = ("--attack", "pair", "--trials", "20k", "--alpha", "1e-4", "--format")
    answer = json.loads(run("audit", *words, *asked, "json")[1])
    (found,), channel = answer["results"], GRID.channel(key, 1.3)
    loss = np.abs(np.log(channel.matrix[first] / channel.matrix[second])).max()
    assert found["epsilon_guaranteed"] == pytest.approx(1.3 / 2 * GRID.places.distances()[first, second])
    assert 0 < found["epsilon_lower_bound"] <= found["epsilon_analytic"] <= loss * (1 + 1e-9)
    assert found["epsilon_analytic"] <= found["epsilon_guaranteed"] * (1 + 1e-9)
    assert (found["agrees"], found["leaks"], answer["request"]["grid"], found["k"]) == (True, False, "4x5", 20)
    attack = AttackSettings(attack="pair", values=(first, second), trials=20_000, alpha=1e-4)
    audited = audit(1.3, protocol=key, attack=attack, cells=Cells(grid="4x5", radius=2))
    assert audited.results[0].hits == found["hits"]
