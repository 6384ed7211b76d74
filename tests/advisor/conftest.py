import os
import shutil

import pytest

from advisor.cli.app import main
from advisor.members import member_of_file
from simulator import foreign
from tests.advisor.choices import chosen
from tests.advisor.collected_files import estimate_text, raw

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BANDS = [110, 114, 116, 118, 124, 132, 134, 130, 126, 124, 128, 132, 122, 108, 92, 68, 62, 60]  # 18 age bands, even


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    """The developer's own LDP_ADVISE_... settings must not decide a test."""
    for name in [name for name in os.environ if name.startswith("LDP_ADVISE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def run(capsys):
    """Run the command line in this process: (exit code, standard output, standard error)."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="session")
def browser():
    """Chromium of the machine; nothing is installed for the tests."""
    api = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    path = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def choose_once(monkeypatch):
    """Let the command make each decision without a file once."""
    monkeypatch.setattr("advisor.extensions.choose.command.make_choice", chosen)


@pytest.fixture
def own_members(monkeypatch):
    """Forget the members from files that a test ranks: another one lists the whole menu."""
    member_of_file.cache_clear()
    monkeypatch.setattr(foreign, "_packages", dict(foreign._packages))
    yield
    from tests.golden.corpus import forget_members

    forget_members()


@pytest.fixture
def states(tmp_path):
    """A small histogram with string labels, in a directory of its own."""
    path = tmp_path / "fruit.csv"
    path.write_text("fruit,count\napple,500\nbanana,300\ncherry,150\ndate,50\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def bands(tmp_path):
    """2,000 people in 18 age bands that are nearly equal."""
    path = tmp_path / "age bands.csv"
    rows = "".join(f"band{place:02},{count}\n" for place, count in enumerate(BANDS))
    path.write_text(f"band,count\n{rows}", encoding="utf-8")
    return str(path)


@pytest.fixture
def ages(tmp_path):
    """Raw values of an ordered domain."""
    path = tmp_path / "ages.csv"
    path.write_text("age\n" + "\n".join(str(20 + (i * i) % 17) for i in range(2000)) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def estimate(tmp_path):
    """An estimate by OUE, in a file."""
    path = tmp_path / "estimate.csv"
    path.write_text(estimate_text(raw()), encoding="utf-8")
    return str(path)
