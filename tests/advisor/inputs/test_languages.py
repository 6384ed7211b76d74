import pytest

from advisor.errors import InputError
from advisor.inputs.columns import HEADERS
from advisor.inputs.domain import build_domain
from advisor.inputs.orders import WORDS
from tests.advisor.inputs.reading import read_bytes
from tests.cells import over

# Language, header of the counts, and labels as people order them.
TABLES = [
    ("German", "Anzahl", "unter 18;18 bis 24;25 bis 64;65 und älter"),
    ("German", "Häufigkeit", "unter 18 Jahren;18 bis unter 25 Jahre;25 bis unter 65 Jahre;65 Jahre und mehr"),
    ("German", "PERSONEN", "bis 17;von 18 bis 24;zwischen 25 und 64;ab 65"),
    ("French", "Effectif", "moins de 18 ans;18 à 24 ans;de 25 à 64 ans;65 ans et plus"),
    ("French", "Nombre", "moins de 18;entre 18 et 24;25 à 64;plus de 64"),
    ("Spanish", "Habitantes", "menos de 18 años;de 18 a 24 años;entre 25 y 64 años;65 años y más"),
    ("Spanish", "Cantidad", "menores de 18;18 a 24;25 a 64;65 o más"),
    ("Italian", "Conteggio", "meno di 18 anni;da 18 a 24 anni;tra 25 e 64 anni;65 anni e oltre"),
    ("Italian", "Abitanti", "fino a 17;18-24;25-64;65 e più"),
    ("Portuguese", "Pessoas", "menos de 18 anos;de 18 a 24 anos;25 até 64 anos;65 anos ou mais"),
    ("Portuguese", "Contagem", "até 17;18 a 24;25 a 64;65 ou mais"),
    ("Dutch", "Aantal", "jonger dan 18;18 tot 24;25 tot 64;65 en ouder"),
    ("Dutch", "Inwoners", "onder 18 jaar;van 18 tot 24 jaar;25 t/m 64 jaar;65 jaar en ouder"),
    ("Polish", "Liczba", "poniżej 18;od 18 do 24;od 25 do 64;65 i więcej"),
    ("Polish", "Osoby", "mniej niż 18 lat;18–24 lata;25–64 lata;65 lat i więcej"),
    ("Polish", "Ludność", "do 17 lat;18 do 24 lat;25 do 64 lat;powyżej 64 lat"),
]


@over(TABLES)
def test_counts_are_recognised_and_ranges_stand_in_order(language, header, labels):
    names = labels.split(";")
    rows = [(10 + at, names[at]) for at in (2, 0, 3, 1)]
    alone = [f"{language}\t{header}", *(f"{name}\t{count}" for count, name in rows)]
    beside = [f"{language};{header};%", *(f"{name};{count};{count / 10:.1f}".replace(".", ",") for count, name in rows)]
    for lines in (alone, beside):
        read = read_bytes("\n".join(lines).encode())
        built = build_domain(read)
        assert (built.ordered, built.labels, built.warnings) == (True, tuple(names), ())
        assert built.counts.tolist() == [10, 11, 12, 13]
        assert f"counts in column '{header}', labels in '{language}'" in read.assumptions


ANSWERS = "Antwort;Personen;Anteil\nnie;3102;77,6\noft;898;22,4\n"
WHOLE = ANSWERS.replace("77,6", "77").replace("22,4", "23")
UNSURE = [
    ("Antwort;Land;Personen\nnie;DE;31\noft;AT;9\n", "--column (and, if another holds the number of users, --counts)"),
    ("Antwort;Personen;Mittel\nnie;3102;34,5\nnie;898;41,2\n", "--counts)"),
    ("Antwort;Personen;Mittel\n1;3102;34,5\n2;898;41,2\n", "--counts)"),
    ("Nombre;Edad;Peso\nAna;31;60,5\nEva;44;70,5\n", "--counts)"),  # a name in Spanish
    ("Antwort;n;Mittel\nnie;3102;34,5\noft;898;41,2\n", "say which one holds the values with --column"),
]


def test_counts_beside_shares_are_recognised():
    for shares in (
        ANSWERS,
        ANSWERS.replace("77,6", "77 %").replace("22,4", "23 %"),
        ANSWERS.replace("77,6", ""),
        WHOLE,
    ):
        read = read_bytes(shares.encode())
        assert (read.labels, read.counts.tolist(), read.from_histogram) == (("nie", "oft"), [3102, 898], True)


@over(UNSURE)
def test_what_is_less_sure_is_asked(text, words):
    with pytest.raises(InputError) as caught:
        read_bytes(text.encode())
    assert words in str(caught.value)


def test_words_are_written_as_they_are_compared():
    def texts(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list | frozenset):
            for each in value.values() if isinstance(value, dict) else value:
                yield from texts(each)

    places = [scale["places"] for scale in WORDS["scales"]]
    assert [
        word for word in texts([HEADERS, WORDS["no_answers"], WORDS["ranges"], places]) if word != word.casefold()
    ] == []
