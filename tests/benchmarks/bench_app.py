"""How soon the page of ``ldp-advise app`` is painted, and how soon a slider is answered: needs the extra and Chromium.

python -m tests.benchmarks.bench_app
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

PAINTS, TURNS = 5, 10
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
TURN = """at => new Promise(done => {
  const place = document.querySelector(".verdict"), start = performance.now();
  const seen = new MutationObserver(() => { seen.disconnect(); done(performance.now() - start); });
  seen.observe(place, { childList: true, subtree: true });
  const input = document.querySelector('.explorer input[data-dial="0"]');
  input.value = at;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
})"""


def look_up_seconds() -> float:
    """Seconds of CPU from a changed ε to the pieces of the page, in this process."""
    from advisor.app.shown import look_up
    from advisor.app.state import state_of

    taken = []
    for epsilon in (1, 1.5, 2, 3, 0.75, 0.5):
        begun = time.process_time()
        _ = look_up(state_of(f"goal=compare&k=300&n=2M&eps={epsilon}", {})).pieces
        taken.append(time.process_time() - begun)
    return statistics.median(taken[1:])


def main() -> None:
    print(f"look-up to HTML: {1000 * look_up_seconds():.0f} ms of CPU, load average {os.getloadavg()[0]:.1f}")
    started = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "advisor", "app", "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    address = server.stdout.readline().partition(": ")[2].strip()
    print(f"address after {time.perf_counter() - started:.2f} s")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            paints: list[float] = []
            answers: list[float] = []
            page = browser.new_context().new_page()
            for _ in range(PAINTS):
                page.context.close()
                page = browser.new_context().new_page()
                begun = time.perf_counter()
                page.goto(f"{address}?goal=compare&k=300&n=2M")
                page.wait_for_selector(".verdict p")
                answers.append(time.perf_counter() - begun)
                paints.append(page.evaluate(PAINT) / 1000)
            print(f"first paint: median {statistics.median(paints):.2f} s, most {max(paints):.2f} s")
            print(f"first answer: median {statistics.median(answers):.2f} s, most {max(answers):.2f} s")
            page.wait_for_selector('.explorer input[data-dial="0"]')
            time.sleep(5)  # pictures and reasons of the first answer
            turns = []
            for turn in range(TURNS):
                turns.append(page.evaluate(TURN, 2 + turn % 5))
                time.sleep(4)
            print(f"slider to verdict: median {statistics.median(turns):.0f} ms, most {max(turns):.0f} ms")
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=30)


if __name__ == "__main__":
    main()
