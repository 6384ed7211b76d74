import io
from itertools import product

import numpy as np
import pytest

from advisor.extensions.places import cells
from advisor.extensions.places.cells import read_places
from advisor.extensions.places.channel import read_channel
from advisor.inputs import source
from advisor.question.settings import KM_PER_DEGREE
from tests.advisor.inputs.reading import peak, piped, put, refusal
from tests.cells import failures, over


def read(text, **options):
    return piped(io.BytesIO(text.encode()), read_places, "-", **options)


def test_counts_and_users_give_the_same_places():
    users = read("y,x\n0,0\n1,2\n1,2\n", columns="y,x", grid="2x3")
    counted = read("x,y,count\n0,0,1\n2,1,2\n", columns="y,x", grid="2x3")
    assert users.counts.tolist() == counted.counts.tolist() == [1, 0, 0, 0, 0, 2]


def test_longitude_and_latitude_become_cells_of_the_size_asked_for():
    degree = 1 / KM_PER_DEGREE  # of latitude, and of longitude at the equator
    lines = [f"{2.5 * degree},{-1.5 * degree}", f"{-2.5 * degree},{1.5 * degree}", "0,0", "0,0"]
    found = read("lon,lat\n" + "\n".join(lines) + "\n", columns="lon,lat", cell_km=1.0)
    assert (found.places.rows, found.places.columns, found.unit) == (4, 6, "km")
    table = found.counts.reshape(4, 6)
    assert table[0, 0] == table[-1, -1] == 1  # the first row is the northernmost
    assert table.sum() == 4
    larger = read("lon,lat\n" + "\n".join(lines) + "\n", columns="lon,lat", cell_km=1.0, grid="8x8")
    assert larger.counts.reshape(8, 8)[2:6, 1:7].sum() == 4


@over(
    product(
        ["lon,lat", "lat,lon"],
        [("longitude", "latitude"), ("Lon", "LAT"), ("pickup_lng", "pickup_lat"), ("x", "geoLatitude")],
    )
)
def test_headers_tell_longitude_from_latitude_in_any_order(order, setting):
    lon, lat = setting
    lines = [(8.0, 50.0), (8.01, 50.0), (8.03, 50.0), (8.03, 50.01)]
    usual = read(f"{lon},{lat}\n" + "".join(f"{x},{y}\n" for x, y in lines), columns=f"{lon},{lat}", cell_km=1.0)
    swapped = f"{lat},{lon}\n" + "".join(f"{y},{x}\n" for x, y in lines)
    for columns in (order.replace("lon", lon).replace("lat", lat), "1,2", "2,1"):
        found = read(swapped, columns=columns, cell_km=1.0)
        assert found.counts.tolist() == usual.counts.tolist()


def test_headers_tell_rows_from_columns_and_without_them_the_order_counts():
    assert read("col,row\n2,0\n", columns="col,row", grid="2x3").counts.tolist() == [0, 0, 1, 0, 0, 0]
    found = read("50,8\n50,8.01\n", columns="2,1", cell_km=1.0)
    assert "latitude 50.000, longitude 8.005" in found.assumptions[-1]


@over([("longitude,latitude", "km"), ("x,y", "units"), ("a,b", "units"), (None, "km"), ("y,x", "units")])
def test_a_grid_divides_the_bounding_box_of_coordinates(header, unit):
    x, y = np.random.default_rng(4).normal([[13.4], [52.5]], [[0.3], [0.1]], size=(2, 400))
    first, second = (y, x) if header == "y,x" else (x, y)
    lines = "".join(f"{a!r},{b!r}\n" for a, b in zip(first.tolist(), second.tolist(), strict=True))
    found = read(f"{header or 'Lon,Lat'}\n{lines}", columns="1,2" if header == "a,b" else None, grid="5x7")
    assert found.counts.reshape(5, 7)[::-1].tolist() == np.histogram2d(y, x, bins=(5, 7))[0].tolist()
    km = (KM_PER_DEGREE, KM_PER_DEGREE * np.cos(np.radians((y.min() + y.max()) / 2))) if unit == "km" else (1, 1)
    assert (found.places.height, found.places.width) == pytest.approx((np.ptp(y) * km[0] / 5, np.ptp(x) * km[1] / 7))
    assert found.unit == unit
    assert any("over the bounding box" in note for note in found.assumptions)
    assert any("not all are whole" in note for note in found.assumptions) == (unit == "units")


@over(
    [
        ("row,col\n1,2\n", "row and column"),
        ("a,b\n1,2\n", "row and column: all are whole"),
        ("x,y\n2,1\n", "column and row: all are whole"),
        ("r,c\n1.0,2\n", "row and column"),
    ]
)
def test_whole_numbers_inside_the_grid_are_cells_unless_headers_say_degrees(text, meaning):
    found = read(text, columns="1,2", grid="2x3")
    assert (found.counts.tolist(), found.unit) == ([0, 0, 0, 0, 0, 1], "cells")
    assert f"read as {meaning}" in found.assumptions[0]
    assert read("lon,lat\n0,0\n1,2\n", grid="2x3").unit == "km"


def test_decimal_commas_are_read_where_semicolons_separate():
    assert read("lon;lat\n8,5;50\n8,5;50,0015\n", columns="lon,lat", cell_km=1.0).counts.sum() == 2


EXTENTS = [(0.0009, 0.0001), (0.02, 0.5), (0.31, 0.02), (3.0, 7.0), (90.0, 70.0), (359.0, 0.001)]


@over(EXTENTS)
def test_without_a_grid_degrees_get_the_finest_round_cells_that_are_few(wide, high):
    rng, sizes = np.random.default_rng(1), [digit * 10.0**power for power in range(-3, 5) for digit in (1, 2, 5)]
    lon, lat = wide * (rng.random(300) - 0.5), 10 + high * (rng.random(300) - 0.5)
    found = read(
        "Länge;Breite\n"
        + "".join(f"{x!r};{y!r}\n".replace(".", ",") for x, y in zip(lon.tolist(), lat.tolist(), strict=True))
    )
    middle = (lat.min() + lat.max()) / 2
    sides = KM_PER_DEGREE * np.array([np.ptp(lat), np.ptp(lon) * np.cos(np.radians(middle))])
    (finest,) = [size for size in sizes if size == pytest.approx(found.places.width)]
    assert found.places.height == found.places.width
    assert max(sides) / finest < 32 <= max(sides) / max(size for size in sizes if size < finest)
    assert (found.places.rows, found.places.columns) == tuple(max(2, int(side // finest) + 1) for side in sides)
    assert found.counts.sum() == 300
    assert "a round size of cells, with at most 32 along a side (--cell-km or" in found.assumptions[-1]


def test_a_few_far_off_places_do_not_stretch_the_cells():
    rng = np.random.default_rng(2)
    near = np.column_stack([13.4 + 0.2 * rng.random(2000), 52.5 + 0.1 * rng.random(2000)])
    for far, stretched in ((2, True), (3, False)):  # of 2,000 users, 0.1 % are 2
        values = near.copy()
        values[:far] = 0
        found = read("lon,lat\n" + "".join(f"{x!r},{y!r}\n" for x, y in values.tolist()))
        assert found.counts.sum() == 2000
        assert found.warnings[0].startswith(f"{far} users are at 0, 0, which devices write for an unknown place")
        assert sum("the outermost 0.1% of users by" in note for note in found.assumptions) == 2 * stretched
        assert found.places.width == (0.5 if stretched else 200)
        if stretched:  # the extent of the others, less 0.1 % of them on a side
            low, high = np.sort(values, axis=0)[[2, -3]]
            cells = (high - low) * KM_PER_DEGREE * [np.cos(np.radians(52.55)), 1] / 0.5
            assert np.abs(np.array([found.places.columns, found.places.rows]) - cells).max() < 1.5
            assert found.counts.reshape(found.places.rows, -1)[-1, 0] >= 2  # in the corner that is nearest


BAD_PLACES = [
    ("r,c\n0,0\n", {"columns": "r,c"}, "--grid or --cell-km is missing: give cells"),
    ("lon,lat\n1,2\n1,2\n", {}, "differ in both coordinates"),
    ("lon,lat\n1,2\n1,95\n", {}, "latitude must be between"),
    ("r,c\n0,0\n", {"columns": "r", "grid": "2x2"}, "must name two columns"),
    ("r,c\n0,1\n", {"columns": "r,c", "counts": "2", "grid": "2x2"}, "--columns and --counts both name column 'c'"),
    ("r,c\n0,0\n", {"columns": "r,r", "grid": "2x2"}, "twice"),
    ("r,c\n0,5\n", {"columns": "r,c", "grid": "2x2"}, "line 2: the column must be a whole number from 0 to 1"),
    ("r,c\n0,x\n", {"columns": "r,c", "grid": "2x2"}, "line 2: the coordinate 'x' is not a number"),
    ("r,c,count\n0,0,-1\n", {"columns": "r,c", "grid": "2x2"}, "line 2: the count"),
    ("r,c,count\n0,0,0\n", {"columns": "r,c", "grid": "2x2"}, "holds no user"),
    ("a,b\n0,0\n0,9\n", {"columns": "a,b", "grid": "2x2"}, "differ in both coordinates; they reach over 9 and 0 units"),
    ("a,b\n0,0\n", {"grid": "2x2"}, "--columns is missing: no headers say row and column or longitude"),
    ("1\n2\n", {"columns": "1,2", "grid": "2x2"}, "has one column"),
    ("r,c\n0,0\n", {"columns": "r,c", "grid": "99x99"}, "at most 4,096 cells"),
    ("r,c\n0,0\n", {"columns": "r,c", "grid": "2by2"}, "ROWSxCOLS"),
    ("lat,latitude\n1,2\n", {"columns": "1,2", "cell_km": 1.0}, "are both a latitude; --columns takes longitude"),
    ("a,b\n0,0\n9,9\n", {"columns": "a,b", "cell_km": 1.0}, "take larger cells"),
    (
        "row,col\n0,0\n9,9\n",
        {"columns": "row,col", "cell_km": 1.0},
        "--cell-km is for longitude and latitude; rows and",
    ),
    ("row,col\n0,0\n9,9\n", {"cell_km": 1.0}, "no headers say longitude and latitude; give both"),
]


def test_bad_places_are_told_in_one_short_line(tmp_path):
    def refused(cell):
        text, options, words = cell
        message = refusal(read, text, **options)
        assert words in message
        assert "--missing" not in message  # which is no option of places
        assert len(message) < 250

    assert failures(BAD_PLACES, refused) == {}
    short = put(tmp_path, "places.csv", "r,c\n0,0\n0\n")
    assert "line 3 has 1 field, the header has 2" in refusal(read_places, short, columns="r,c", grid="2x2")


@pytest.mark.parametrize("options", [{"grid": "8x8"}, {"cell_km": 20.0}])
def test_many_places_in_bounded_memory(options, monkeypatch):
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 14)
    monkeypatch.setattr(cells, "BLOCK", 1000)
    peaks = []
    for n in (15_000, 45_000):
        text = "a,b\n" + "".join(f"{at % 8},{at // 8 % 8}\n" for at in range(n))
        data = io.BytesIO(text.encode())
        found, most = peak(piped, data, read_places, "-", columns="a,b", **options)
        peaks.append(most)
        assert found.counts.sum() == n
        assert (found.counts > 0).sum() == 64
    assert peaks[1] < 1.1 * peaks[0] + 200_000  # the coordinates of all would be 720,000 more


@pytest.mark.parametrize("suffix", [".csv", ".npy"])
def test_a_channel_is_read(tmp_path, suffix):
    matrix, path = np.array([[0.667, 0.333], [0.333, 0.66701]]), tmp_path / f"own{suffix}"
    if suffix == ".npy":
        np.save(path, matrix)
    else:
        np.savetxt(path, matrix, delimiter=",")
    channel, notes = read_channel(str(path), 2)
    assert np.allclose(channel.matrix, matrix / matrix.sum(axis=1, keepdims=True), rtol=1e-12)
    assert "divided by their sums" in notes[0]
    semicolons = put(tmp_path, "own.csv", "0,75;0,25\n0,5;0,5\n")
    assert read_channel(semicolons, 2)[0].matrix.tolist() == [[0.75, 0.25], [0.5, 0.5]]


BAD_CHANNELS = [
    ("own.csv", b"0.5,0.5\n", "one row for each of the k = 2"),
    ("own.csv", b"0.5,0.6\n0.5,0.5\n", "row 1 sums to 1.1"),
    ("own.csv", b"1.5,-0.5\n0.5,0.5\n", "row 1 has another"),
    ("own.csv", b"a,b\n0.5,0.5\n", "line 1: the probability 'a' is not a number; a matrix"),
    ("own.csv", b"\n", "is empty"),
    *(
        ("own.npy", data, "is no NumPy file")
        for data in (b"", b"\x93NUMPY", b"\x93NUMPY\x09\x09", b"PK\x03\x04", b"0.5,0.5\n0.5,0.5\n")
    ),
]


def test_bad_channels_are_told_in_one_line_and_read_no_further_than_they_may_be_large(tmp_path):
    def refused(cell):
        name, data, words = cell
        said, most = peak(refusal, read_channel, put(tmp_path, name, data), 2)
        assert words in said
        assert most < 30_000_000

    assert failures(BAD_CHANNELS, refused) == {}
    assert "no such file" in refusal(read_channel, str(tmp_path / "none.npy"), 2)


def numpy_file(path, header):
    text = header.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
    return str(path)


HEADER = "{{'descr': {}, 'fortran_order': False, 'shape': {}, }}"
NUMPY_FILES = {
    "objects": (HEADER.format("'|O'", "(2, 2)"), "is damaged"),
    "records": (HEADER.format("[('a', '<f8')]", "(2, 2)"), "is damaged"),
    "one row": (HEADER.format("'<f8'", "(2,)"), "is damaged"),
    "a huge claim": (HEADER.format("'<f8'", "(400000, 400000)"), "is damaged"),
    "no inputs": (HEADER.format("'<f8'", "(0, 2)"), "one row for each of the k = 2"),
    "too little": (HEADER.format("'<f8'", "(2, 2)"), "is damaged"),
    "a number of 5,000 digits": (HEADER.format("'<f8'", f"(2, {'9' * 5000})"), "is damaged"),
    "code": ("__import__('os').system('true')", "is damaged"),
}


@over(NUMPY_FILES)
def test_a_numpy_file_that_is_no_matrix_is_told_in_one_line(name, *, tmp_path):
    header, words = NUMPY_FILES[name]
    path = numpy_file(tmp_path / "own.npy", header)
    said = refusal(read_channel, path, 2)
    assert words in said
    assert said.startswith(path)


@over(product(["<f8", ">f4", "<f2", "<i2", "|b1"], ["C", "F"]))
def test_numpy_matrices_of_any_number_are_read(dtype, order, *, tmp_path):
    matrix = np.array([[1, 0, 0], [0, 1, 0]], dtype=dtype, order=order)
    np.save(tmp_path / "own.npy", matrix)
    assert read_channel(str(tmp_path / "own.npy"), 2)[0].matrix.tolist() == matrix.astype(float).tolist()
