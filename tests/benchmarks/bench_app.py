"""How soon the page of ``ldp-advise app`` answers: needs the extra and Chromium.

From a shape that is picked, or a file that is dropped, to the first sight and to the whole simulation, on every goal;
from the address to the first paint; and from a slider to the verdict.

python -m tests.benchmarks.bench_app [--simulations]
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import sync_playwright

from advisor.extensions.app.files import example_file
from advisor.extensions.app.goals import COMPARE, SHAPES, goals

PAINTS, TURNS, ROUNDS = 5, 10, 2
PAUSE = 4  # seconds in which what stands below an answer is drawn
PATIENCE = 300_000  # milliseconds for a simulation
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
WATCH = """() => {
  const since = name => { window[name] ??= performance.now() - window.begun; };
  const seen = new MutationObserver(() => since("changed"));
  for (const name of ["verdict", "details", "reproduce"])
    seen.observe(document.getElementById(name), { childList: true, subtree: true });
  const details = document.getElementById("details");
  new MutationObserver(() => { if (/Simulated |Judged by/.test(details.textContent)) since("simulated"); })
    .observe(details, { childList: true, subtree: true });
}"""
BEGIN = "() => { window.changed = window.simulated = null; window.begun = performance.now(); }"
TURN = """at => new Promise((done, failed) => {
  const place = document.getElementById("verdict"), start = performance.now();
  setTimeout(() => failed(new Error(`no new verdict in 30 s for the place ${at} of the dial`)), 30000);
  const seen = new MutationObserver(() => { seen.disconnect(); done(performance.now() - start); });
  seen.observe(place, { childList: true, subtree: true });
  const input = document.querySelector('.explorer input[data-dial="0"]');
  input.value = at;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
})"""
SAMPLE = "answer,people\n" + "".join(f"answer {place},{100 * (20 - place) ** 2}\n" for place in range(1, 19))
TICKS = os.sysconf("SC_CLK_TCK")


def used(process):
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return sum(map(int, fields[11:13])) / TICKS


@contextmanager
def running():
    started = time.perf_counter()
    command = [sys.executable, "-m", "advisor", "app", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().partition(": ")[2].strip()
    print(f"address after {time.perf_counter() - started:.2f} s")
    try:
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(timeout=30)


def first_paint(browser, address):
    paints, answers = [], []
    for _ in range(PAINTS):
        page = browser.new_context().new_page()
        begun = time.perf_counter()
        page.goto(f"{address}?goal=compare&k=300&n=2M")
        page.wait_for_selector(".verdict .headline")
        answers.append(time.perf_counter() - begun)
        paints.append(page.evaluate(PAINT) / 1000)
        page.context.close()
    _print("first paint", paints)
    _print("first answer", answers)


def sliders(browser, address):
    page = browser.new_context().new_page()
    page.goto(f"{address}?goal=compare&k=300&n=2M")
    page.wait_for_selector('.explorer input[data-dial="0"]')
    time.sleep(PAUSE)
    turns = []
    for turn in range(TURNS):
        turns.append(page.evaluate(TURN, 2 + turn % 5) / 1000)  # never where the dial is: it begins at 3
        time.sleep(PAUSE)
    page.context.close()
    _print("slider to verdict", turns)


def acted(page, process, act, *, simulates):
    """Return seconds to the first sight, of CPU in the server to there, and to the simulation if that is awaited."""
    page.evaluate(BEGIN)
    before = used(process)
    act()
    page.wait_for_function("() => window.changed !== null", timeout=PATIENCE)
    cpu = used(process) - before
    if simulates:
        page.wait_for_function("() => window.simulated !== null", timeout=PATIENCE)
    else:
        time.sleep(PAUSE)
    seen, whole = page.evaluate("() => [window.changed, window.simulated]")
    return seen / 1000, cpu, whole / 1000 if simulates else None


def first_sights(browser, address, process):
    """Print for every goal how soon each shape that is picked, and a file that is dropped, is answered."""
    medians = {}
    for goal in goals().values():
        seen, cpus = [], []
        for _ in range(ROUNDS):
            page = opened(browser, address, goal)
            for name, act in acts(page, goal):
                one = acted(page, process, act, simulates=False)
                print(f"  {goal.key}, {name}: {one[0]:.2f} s, {one[1]:.2f} s of CPU in the server", flush=True)
                seen.append(one[0])
                cpus.append(one[1])
            page.context.close()
        _print(f"{goal.key}: to the first sight", seen)
        _print(f"{goal.key}: of CPU in the server", cpus)
        medians[goal.key] = statistics.median(seen)
    ratios = ", ".join(f"{key} {median / medians[COMPARE]:.2f}" for key, median in medians.items())
    print(f"medians as ratios to that of {COMPARE}: {ratios}")


def simulations(browser, address, process):
    for goal in goals().values():
        page = opened(browser, address, goal)
        for name, act in acts(page, goal)[-2:]:
            one = acted(page, process, act, simulates=True)
            print(f"{goal.key}, {name}: simulated after {one[2] or 0:.1f} s", flush=True)
        page.context.close()


def opened(browser, address, goal):
    """Return the page of a goal, watched, on which every act of `acts` changes the answer."""
    page = browser.new_context().new_page()
    page.goto(f"{address}?goal={goal.key}" + (f"&shape={[*SHAPES][-1]}" if goal.shapes else f"&{goal.example_set}"))
    page.wait_for_selector(".verdict .headline")
    time.sleep(PAUSE)
    page.evaluate(WATCH)
    return page


def acts(page, goal):
    """Return what a user does with the data of a page, each with its name."""
    shapes = SHAPES if goal.shapes else ()
    picks = [(key, partial(page.select_option, "#shape", key)) for key in shapes]
    return [*picks, ("file", partial(page.set_input_files, ".upload", _file(goal.example)))]


def _file(name):
    path = Path(tempfile.gettempdir()) / (name or "people.csv")
    path.write_bytes(example_file(name).content if name else SAMPLE.encode())
    return path


def _print(what, seconds):
    print(f"{what}: median {statistics.median(seconds):.2f} s, most {max(seconds):.2f} s", flush=True)


def main():
    print(f"load average {os.getloadavg()[0]:.1f}")
    with running() as (address, process), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        first_paint(browser, address)
        sliders(browser, address)
        first_sights(browser, address, process)
        if "--simulations" in sys.argv:
            simulations(browser, address, process)
        browser.close()
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
