import gzip
import io
import zipfile

from tests.advisor.inputs.reading import error_of, read_file, users
from tests.cells import over

OFFICE = (
    "Befragung (letzte 12 Monate);;\r\nAntwort;Personen;Anteil\r\nnie;3102;77,6\r\n"
    "früher, heute nicht mehr;441;11,0\r\nselten (1–2 mal im Jahr);228;5,7\r\n"
    "regelmäßig;229;5,7\r\nSumme;4000;100,0\r\n"
).encode("cp1252")
LABELLED = {"column": "Antwort", "counts": "Personen"}
BANK = (
    '"Data Source","World",\n\n"Updated","2026-07-01",\n\n"Name","Code","1960","1961",\n'
    '"A","X","54608","1",\n"B","Y","","",\n"C","Z","7","9",\n'
)
MANY = "x,count\n" + "".join(f"a{at},{at}\n" for at in range(1, 10002))
UNITS = "age;count\n(years);(persons)\n0-9;120\n10-19;30\n20-29;7\n"
VOTES = "Partei;Stimmen;Anteil in %\nA;1.586.192;32,6\nC;473.485;9,7\nD;535.489;11,0\n\nQuelle: Amt\n"
SHARES = "x,proportion\na,0.418\nb,0.302\nc,0.28\n"

# name, content, options, users, a part of what is said
READ = [
    ("a.csv", "x,count\nN,1200\nS,3400\nE,800\nTotal,5400\n", {}, [1200, 3400, 800], "'Total' (line 5) is the sum"),
    ("a.csv", "x,count\nTotal,5400\nN,1200\nS,3400\nE,800\n", {}, [1200, 3400, 800], "left out as their total"),
    ("a.csv", "x,count\nN,12001\nS,34001\nE,8000\nTotal,54003\n", {}, [12001, 34001, 8000], "nearly the sum"),
    ("a.csv", "x,count\na,500\nb,300\nc,200\n", {}, [500, 300, 200], "if it is their total and no"),
    ("a.csv", "x,count\nN,1200\nUSA,5407\nS,3401\nE,806\n", {}, [1200, 5407, 3401, 806], ""),
    ("a.csv", "x,count\nN,1201\nS,3400\nE,806\nUSA,5407\n", {"missing": "USA"}, [1201, 3400, 806], "('USA')"),
    ("a.csv", "x,count\nA,1001\nB,2003\nC,3007\nTotal,6400\n", {}, [1001, 2003, 3007, 6400], "--missing Total"),
    ("a.csv", "x,count\nA,10\nTotal,5\nB,20\n", {"missing": "Total"}, [10, 20], "left out"),
    ("a.csv", "x,n\nYes,500\nNo,480\nDK,20\n", {}, [500, 480, 20], "leave it out with --missing Yes"),
    ("a.csv", "x,n\nA,20011\nB,30023\nC,50034\nD,7\nE,9\n", {}, [20011, 30023, 50034, 7, 9], "the 2 rows before"),
    ("a.csv", "x,count\nA,1000\nB,\nC,2200\nTotal,3205\n", {}, [1000, 2200], "is more than the sum of all known rows"),
    ("a.csv", "x,count\nShell,310\nTotal,210\nEsso,100\nBP,77\n", {}, [310, 210, 100, 77], ""),
    ("a.csv", "x,count\nAll,310\nSome,99\nNone,70\n", {}, [310, 99, 70], "though the other rows add up to 169"),
    ("a.csv", MANY + "Total,50015001\n", {}, list(range(1, 10002)), "as their total"),
    ("a.csv", MANY + "Total,50015001\n" + "b,\n" * 5000, {}, list(range(1, 10002)), "as their total"),
    ("a.csv", "x,count\nAll,3\nSome,2\nNone,2\n", {}, [3, 2, 2], ""),
    ("a.csv", "x,count\na,120\nb,\nc,30\n", {}, [120, 30], "1 of 3 categories left out, as counts are missing: 'b'"),
    ("a.csv", "x,count\na,120\nb,(D)\nc,NA\nd,30\n", {"drop_missing": True}, [120, 30], "2 of 4 categories left out"),
    ("a.csv", "x\n" + "yes\nno\nno\nNA\n" * 9, {"drop_missing": True}, [9, 18], "9 users were left out"),
    ("a.csv", "x\n" + "yes\nno\nno\nNA\n" * 9, {}, [9, 18, 9], "'NA' (9 users) looks like no answer"),
    ("a.csv", "x\n" + "yes\nno\nno\n" * 9, {"drop_missing": True}, [9, 18], "no value is missing"),
    ("a.csv", "x\n" + "1\n2\n3\n4\n5\n9\n" * 9, {}, [9] * 6, "'9' (9 users) looks like no answer"),
    ("a.csv", "x\n" + "1\n2\n3\n4\n77\n" * 9, {}, [9] * 5, "'77' (9 users) looks like no answer"),
    ("a.csv", "x\n" + "\n".join(map(str, [*range(96), 999])), {}, [1] * 97, "'999' (1 user) looks like no answer"),
    ("a.csv", "x\n" + "\n".join(map(str, [*range(18, 96), 97, 99])), {}, [1] * 80, ""),
    ("a.csv", "x\n" + "1\n2\n3\n4\n5\n-99\n" * 9, {}, [9] * 6, "--missing -99 leaves these users out"),
    ("a.csv", "x\n" + "1\n2\n3\n4\n5\n-99\n" * 9, {"missing": "-99"}, [9] * 5, "9 users were left out"),
    ("a.csv", "x\n" + "1\n7\n8\n9\n10\n" * 9, {}, [9] * 5, ""),
    ("a.csv", "x\n" + "1\n2\n3\n-9\n-8\n-1\n" * 9, {}, [9] * 6, "'-9', '-8', '-1' (27 users) look like no"),
    ("a.csv", "x\n" + "1\n2\n3\n77\n88\n99\n" * 9, {}, [9] * 6, "'77', '88', '99' (27 users) look like no"),
    ("a.csv", "x\n" + "0\n1\n88\n99\n" * 9, {}, [9] * 4, "--missing 88 --missing 99"),
    ("a.csv", "x\n" + "1\n2\n9\n" * 9, {}, [9] * 3, "'9' (9 users) looks like no answer"),
    ("a.csv", "x\n" + "1\n3\n9\n" * 9, {}, [9] * 3, ""),
    ("a.csv", "x\n" + "-2\n-1\n1\n2\n" * 9, {}, [9] * 4, ""),
    ("a.csv", "x\n" + "-9\n-5\n-2\n1\n2\n" * 9, {}, [9] * 5, ""),
    ("a.csv", "x\n" + "ja\nnein\n(Leer)\n" * 9, {}, [9] * 3, "'(Leer)' (9 users) looks like no answer"),
    ("a.csv", "x,people\nN,1200\nS,800\nSource: the census, 2021\n", {}, [1200, 800], "1 line stands below"),
    ("a.csv", "x;people\nN;1200\nS;800\nLast updated;2021\n", {}, [1200, 800], "1 line stands below"),
    ("a.csv", "x,people\nTotal population,999\nN,410\nS,400\nE,139\n", {}, [999, 410, 400, 139], "add up to 949"),
    ("a.csv", "x;2023\na;31\nb;17\nc;:\n", {"counts": "2", "drop_missing": True}, [31, 17], "counts are missing: 'c'"),
    ("a.csv", "x;Einwohner\na;13.177.000\nb;8.500.000\n", {}, [13177000, 8500000], ""),
    ("a.csv", "answer,n,%\nyes,120,60.0\nno,80,40.0\n", {}, [120, 80], ""),
    ("a.csv", "x,OBS_VALUE\nAT,7\nBE,9\nCY,1\n", {"column": "x"}, [1, 1, 1], "--counts OBS_VALUE"),
    ("a.csv", "x,year\nAT,2021\nBE,2022\nCY,2023\n", {"column": "x"}, [1, 1, 1], ""),
    ("a.csv", OFFICE, LABELLED, [3102, 441, 228, 229], "1 line stands above the header"),
    ("a.csv", OFFICE, {**LABELLED, "skip": 1}, [3102, 441, 228, 229], "read as Windows-1252"),
    ("a.csv", BANK, {"column": "Name", "counts": "1960"}, [54608, 7], "4 lines stand above the header"),
    ("a.csv", BANK, {"column": "Name", "counts": "1960", "skip": 4}, [54608, 7], "1 of 3 categories left out"),
    ("a.csv", "x,count\na,1\nb,2\n\nSource: the census\nall rights reserved\n", {}, [1, 2], "2 lines stand below"),
    ("a.csv", "x,count\na,1\nb,2\nSource: the census of the land\n", {}, [1, 2], "1 line stands below"),
    ("a.csv", "x,count\na,1\n,\nb,2\n,\n,\n", {}, [1, 2], "1 blank line was skipped"),
    ("a.csv", "x,count\na,1\n,\nb,2\n" + "c,1\n" * 3000, {}, [1, 2, 3000], "1 blank line was skipped"),
    ("a.csv", UNITS, {}, [120, 30, 7], "line 2 ((years), (persons)) was left out"),
    ("a.csv", "A\nB 1\nC\nx;count\nrot;12\nblau;13\n(C) A\n", {}, [12, 13], "1 line stands below"),
    ("a.csv", "Persons in 1000\nx;count\nrot;12\nblau;13\n", {}, [12, 13], "counts are in thousands"),
    ("a.csv", "x,y\n,Response\nr,1\nb,2\nr,3\n", {"column": "1", "drop_missing": True}, [2, 1], "a second header"),
    ("a.csv", "x,y\nx,1\nr,1\nx,y\nb,2\n", {"column": "1", "header": True}, [2, 1, 1], "a second header"),
    ("a.csv", "x,age\nred,\nblue,30\ngreen,40\nred,20\n", {"column": "x"}, [2, 1, 1], ""),
    ("a.csv", "0\nred\nblue\nred\n", {}, [1, 2, 1], "if it names the column say --header"),
    ("a.csv", '"date"\n"Jan 5, 2024"\n"Jan 6, 2024"\n', {}, [1, 1], ""),
    ("a.csv", "ans\n---\nyes\n---\nno\nyes\n", {}, [2, 2, 1], ""),
    ("a.jsonl", '{"x":"\\ud800"}\n{"x":"a"}\n', {}, [1, 1], ""),
    ("a.csv", "x,Einwohner in 1000\na,12\nb,88\n", {"counts": "2", "column": "1"}, [12, 88], "write them in full"),
    ("a.csv", "Jahr;2022\nBayern;133\nBerlin;37\n", {"column": "Jahr", "counts": "2022"}, [133, 37], ""),
    ("a.csv", "color,people\nred,1200\nblue,340\n", {"column": "color"}, [1200, 340], ""),
    ("a.csv", "Nr.;Farbe;Anzahl\n1;rot;12\n2;blau;13\n3;grün;4\n", {}, [12, 13, 4], ""),
    ("a.csv", "x;Anzahl\nx;12\ny;N\nz;13\n", {"missing": "N"}, [12, 13], "counts are missing"),
    ("a.csv", "x\n1,5\n0,5\n2,5\n", {}, [1, 1, 1], ""),
    ("a.txt", '"color" "n"\n"1" "red" 1200\n"2" "blue" 340\n', {}, [1200, 340], ""),
    ("a.csv", "x\n*\n**\n***\n*\n", {"header": True}, [2, 1, 1], ""),
    ("a.csv", "x\nNA\nDE\nFR\nNA\nDE\n", {}, [2, 2, 1], ""),
    ("a.csv", "sep=;\nLand;count\nBayern;13124737\nBerlin;3669491\n", {}, [13124737, 3669491], ""),
    ("a.csv", '"sep=|"\nLand|count\nBayern|2\nBerlin|1\n', {}, [2, 1], ""),
    ("a.csv", "x;share\nnie;0,6\nselten;0,4\n", {"n": 10}, [6, 4], ""),
    ("a.csv", "x,count,\na,1,\nb,2,\n", {}, [1, 2], ""),
    ("a.csv", "x,count\na,1,\nb,2,\n", {}, [1, 2], ""),
    ("a.csv", "x,count\na,1\nb,2,\n", {}, [1, 2], ""),
    ("a.tsv", "answer\tcount\n1\tred\t120\n2\tblue\t300\n3\tgreen\t80\n", {}, [120, 300, 80], ""),
    ("a.csv", '"","answer","count"\n"1","red",120\n"2","blue",300\n', {}, [120, 300], ""),
    ("a.txt", "   4320 not recom\n   4266 priority\n      2 recom\n", {}, [4320, 4266, 2], "in front"),
    ("a.txt", "fruit\n   500 c0\n    20 New York\n     7 x\n", {}, [500, 20, 7], "in front of"),
    ("a.txt", "x\n5.0     1024\n4.0      495\n1.0       10\nName: count, dtype: int64\n", {}, [1024, 495, 10], "beh"),
    ("a.txt", "red    120\nblue   300\ngreen    8\n", {}, [120, 300, 8], "behind"),
    ("a.txt", "".join(f"{3 * at:7} label {at}\n" for at in range(1, 3001)), {}, list(range(3, 9001, 3)), "in"),
    ("a.txt", "5 stars\n4 stars\n5 stars\n1 star\n" * 9, {}, [18, 9, 9], ""),
    ("a.txt", "18 to 24\n25 to 34\n35 to 44\n", {"column": "1"}, [1, 1, 1], ""),
    ("a.csv", "x,count\na,652\u202f432\nb,531\u00a0345\nc,335 975\n", {}, [652432, 531345, 335975], ""),
    ("a.csv", "x,count\na,1'652'432\nb,531’345\nc,7\n", {}, [1652432, 531345, 7], ""),
    ("a.csv", "x;count\na;3.102\nb;441\nc;13.124.737\n", {}, [3102, 441, 13124737], ""),
    ("a.csv", VOTES, {}, [1586192, 473485, 535489], "1 line stands below the table"),
    ("a.csv", f"Wahl 2021\n{VOTES}", {}, [1586192, 473485, 535489], "1 line stands above the header"),
    ("a.txt", "x\tcount\na\t3.102\nb\t441\n", {}, [3102, 441], ""),
    ("a.csv", "x;count\na;3.000\nb;441\n", {"decimal": ","}, [3000, 441], ""),
    ("a.csv", "x;count\na;3,000\nb;441\n", {"decimal": "."}, [3000, 441], ""),
    ("a.csv", 'x,count\na,"3.000"\nb,441\n', {"decimal": ","}, [3000, 441], ""),
    ("a.csv", SHARES, {"counts": "proportion", "n": 1001}, [419, 302, 280], ""),
    ("a.csv", SHARES, {"n": 1000}, [418, 302, 280], ""),
    ("a.csv", "v,count\n0,500\n1,200\n2,170\n3,130\n", {}, [500, 200, 170, 130], "'0' (line 2) is the sum of all"),
    ("a.csv", "x,share\na,0.5\nb,0.3\nc,0.2\n", {"n": 100}, [50, 30, 20], ""),
    ("a.csv", "x;Anteil\nja;77,6 %\nnein;22,4 %\nSumme;100,0 %\n", {"n": 500}, [388, 112], "left out as their total"),
    ("a.csv", "x\nMünchen\nKöln\nKöln\n".encode("cp1252"), {}, [1, 2], "read as Windows-1252"),
    ("a.csv", "x\nMünchen\nKöln\nKöln\n".encode("utf-16"), {}, [1, 2], ""),
    ("a.csv", gzip.compress("x\nMünchen\nKöln\nKöln\n".encode("utf-16-le").join([b"\xff\xfe", b""])), {}, [1, 2], ""),
    ("a.jsonl", '{"v":"4"}\n{"v":2}\n\n{"v":4.0}\n', {}, [2, 1], "1 blank line was skipped"),
    ("a.csv", "<5\n5-9\n<5\n", {"header": False}, [2, 1], ""),
    ("a.csv", '"[0, 5)"\n"[5, 9)"\n', {"header": False}, [1, 1], ""),
]  # fmt: skip


def options_of(options):
    return {name: ((value,) if name == "missing" else value) for name, value in options.items()}


@over(READ)
def test_files_as_people_have_them_are_read(name, content, options, counted, said, *, tmp_path):
    read = read_file(tmp_path, name, content, **options_of(options))
    assert read.counts.tolist() == counted
    assert len(users(read)) == len(counted)
    if said:
        assert said in "\n".join(read.warnings)
    else:
        assert not read.warnings


def zipped(member):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member, b"x")
    return stream.getvalue()


REFUSED = [
    ("a.csv", "x,count\nUSA,5407\nN,1201\nS,3400\nE,806\n", {}, "'USA' (line 2) is the sum of all other rows, 5,407"),
    ("a.csv", "x,count\na,120\nb,(D)\nc,NA\nd,30\n", {}, "line 3: the count '(D)' looks like one that is missing"),
    ("a.csv", "x,count\nN,500\nK,200\nL,300\nS,700\nSumme,850\n", {}, "add up to 2 times"),
    ("a.csv", "x,count\na,5\nSubtotal,5\nb,7\nc,8\nSubtotal,15\n", {}, "stands like a subtotal among the rows"),
    ("a.csv", "x,count\na,5\nb,7\nSubtotal land,12\nc,8\nTotal,20\n", {}, "'Subtotal land' (line 4) stands like a"),
    ("a.csv", "answer,people\nyes,10.5\nno,20.5\n", {}, '"1,000" (raw estimates: ldp-advise estimate)'),
    ("a.csv", "city,people\nParis,2102650*\nLyon,522250\nNice,348085\n", {}, "holds '2102650*' on line 2"),
    ("a.csv", "city,people\nParis,300.000\nLyon,12.000\n", {}, "--decimal , or --decimal ."),
    ("a.csv", '"color,count"\n"red,12"\n"blue,13"\n', {}, "every line stands in quotation marks"),
    ("a.csv", 'Q1\nWhat?\n"{""ImportId"":""QID1""}"\nred\nblue\n', {}, "with --skip 2, and name"),
    ("a.csv", "color count\nred 12000\nblue 3400\ngreen 500\n", {}, "3 of 3 lines begin or end with a number"),
    ("a.txt", "age\n18  10\n19  20\n20  30\nName: age, dtype: int64\n", {}, "this is a printed table"),
    ("a.txt", "+---+---+\n| x | n |\n+---+---+\n| a | 1 |\n", {}, "a printed table with rules"),
    ("a.txt", "┌───┬───┐\n│ x ┆ n │\n╞═══╪═══╡\n│ a ┆ 1 │\n", {}, "a printed table with rules"),
    ("a.txt", "====  ===\nx     n\n====  ===\na     1\n", {}, "a printed table with rules"),
    ("a.txt", "x     n\n----- ---\nred   1\n", {}, "a printed table with rules"),
    ("a.csv", "x\nr\nb\n".encode("utf-16-le"), {}, "line 1 is no text"),
    ("a.csv", "Antwort;Anzahl in %\nja;12\nnein;88\n", {}, "holds shares that sum to 100"),
    ("a.csv", "Antwort;kumulierte Anzahl\nja;12\nnein;88\n", {}, "has 2 columns"),
    ("a.txt", "1,3\n1,7\n2,0\n", {}, "if a comma is the decimal sign say --decimal ,"),
    ("a.csv", "Title\nx,y\nCA,NY\nTX,CA\nFL,TX\n", {}, "leave them out with --skip 1"),
    ("a.csv", "x\n1\n", {"skip": 2}, "--skip 2 leaves out all lines"),
    ("a.csv", "x,count\na,1\nb\n", {}, "line 3 has 1 field, the header has 2; a value may be missing"),
    ("a.csv", SHARES, {}, "column 'proportion' holds shares that sum to 1: read them with --counts proportion"),
    ("a.csv", SHARES, {"counts": "proportion"}, "say how many users there are with --n"),
    ("a.txt", "".join(f"{3 * at:7} label {at}\n" for at in range(1, 1500)) + "oops\n", {}, "line 1500 has 1 field"),
    ("a.txt", "x\na   12\n..  ..\nb    1\nLength: 90, dtype: int64\n", {}, "this is a printed table"),
    ("a.csv", "ä\n".encode() + "ö\n".encode("cp1252"), {}, "line 2 is no text: it is neither UTF-8"),
    ("a.json", '{"a": 1, "b": 2}\n', {}, "is JSON, not a table; lines of one field are read"),
    ("a.jsonl", '{"a": 1}\n{"b": 1}\n', {}, "line 2 is not a JSON object with the field 'a' alone"),
    ("a.html", "\n<!DOCTYPE html>\n<p>", {}, "is HTML or XML, not a table"),
    ("a.npz", zipped("arr_0.npy"), {}, "is a NumPy archive (.npz)"),
    ("a.xlsx", zipped("[Content_Types].xml"), {}, "is an Excel workbook (.xlsx), not text; save the sheet as CSV"),
    ("a.zip", zipped("data/a.csv"), {}, "is a zip archive, not text; unpack it"),
    ("a.pkl", b"\x80\x04\x95", {}, "is a Python pickle, which is never loaded"),
]  # fmt: skip


@over(REFUSED)
def test_what_is_not_sure_is_refused_with_what_to_type(name, content, options, said, *, tmp_path):
    assert said in error_of(tmp_path, name, content, **options_of(options))
