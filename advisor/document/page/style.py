"""Style and script of the page: light and dark, narrow and wide, and paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --quiet: #5f6670; --band: #e6ecf2;
  --bars: #c8cdd2; --blue: #0072b2; --orange: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #e8eaed; --quiet: #9aa3ad; --band: #262d36;
  --bars: #4a525c; --blue: #5db8ec; --orange: #f2955a; } }
@media print { :root { color-scheme: light; --paper: #ffffff; --ink: #000000; --quiet: #444444; --band: #e6ecf2;
  --bars: #c8cdd2; --blue: #0072b2; --orange: #d55e00; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  overflow-wrap: anywhere; font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
p, ul, dl { margin: .4rem 0; } li { margin: .2rem 0; }
.answer { font-size: 1.15rem; font-weight: 600; border-left: .3rem solid var(--blue); padding-left: .8rem; }
.unsure, .warning { border-color: var(--orange); }
.warning { border-left: .3rem solid var(--orange); padding-left: .8rem; }
.quiet { color: var(--quiet); font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--band); }
th.text, td.text { text-align: left; }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: .15rem 0;
  cursor: pointer; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
tr.top td { background: var(--band); } tr.extra td { color: var(--quiet); } td.good { font-weight: 600; }
summary { cursor: pointer; font-weight: 600; margin: .6rem 0; }
figure { margin: .6rem 0; } svg { max-width: 100%; height: auto; }
svg text { font-family: system-ui, "DejaVu Sans", sans-serif !important; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
pre { background: var(--band); padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
dt { font-weight: 600; margin-top: .5rem; } dd { margin-left: 0; }
@media (max-width: 40rem) { body { padding: .8rem; } figure { overflow-x: auto; } figure svg { min-width: 30rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } .wide { overflow: visible; }
  th, td { white-space: normal; padding: .1rem .3rem; } tr.beyond { display: none; }
  figure, tr { break-inside: avoid; } h2 { break-after: avoid; } }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, place) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    const value = row => { const cell = row.cells[place]; return cell.dataset.value ?? cell.textContent; };
    const numbers = !head.classList.contains("text");
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (numbers && (x === "" || y === "")) return (x === "") - (y === "");
      const order = numbers ? x - y : x.localeCompare(y);
      return up ? order : -order;
    });
    body.append(...rows);
    heads.forEach(one => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  }));
}
"""
# What the pictures are drawn in, and what the page calls it, so that they follow the reader's light or dark.
COLOURS = {
    "#1a1a1a": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#767676": "var(--quiet)",
    "#e6ecf2": "var(--band)",
    "#c8cdd2": "var(--bars)",
    "#0072b2": "var(--blue)",
    "#d55e00": "var(--orange)",
}
