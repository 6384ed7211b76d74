"""Style of the page: light and dark, narrow and wide, and paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --quiet: #5f6670; --band: #e6ecf2;
  --bars: #c8cdd2; --blue: #0072b2; --orange: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #e8eaed; --quiet: #9aa3ad; --band: #262d36;
  --bars: #4a525c; --blue: #5db8ec; --orange: #f2955a; } }
@media print { :root { color-scheme: light; --paper: #ffffff; --ink: #000000; --quiet: #444444; --band: #e6ecf2;
  --bars: #c8cdd2; --blue: #0072b2; --orange: #d55e00; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.2rem; max-width: 66rem; background: var(--paper); color: var(--ink);
  overflow-wrap: anywhere; font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .2rem; }
h2 { font-size: 1.15rem; margin: 1.8rem 0 .4rem; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p, ul, dl { margin: .4rem 0; } li { margin: .2rem 0; } a { color: var(--blue); }
:focus-visible { outline: .15rem solid var(--blue); outline-offset: .15rem; }
.verdict p { margin: .25rem 0; }
.answer { font-size: 1.1rem; font-weight: 600; border-left: .3rem solid var(--blue); padding-left: .8rem; }
.unsure, .warning { border-color: var(--orange); }
.warning { border-left: .3rem solid var(--orange); padding-left: .8rem; }
.quiet { color: var(--quiet); font-size: .9rem; }
.explorer { border: 1px solid var(--bars); border-radius: .4rem; padding: .7rem 1rem; margin: .8rem 0; }
.explorer h2 { margin: 0 0 .3rem; } .explorer > .quiet { margin: .4rem 0 0; }
.panel { display: grid; grid-template-columns: 1fr 1fr; gap: .4rem 1.4rem; align-items: start; }
.dials { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; align-items: end; margin-bottom: .4rem; }
.dials[hidden] { display: none; } .dials label { flex: 1 1 14rem; font-size: .9rem; }
.dials output { font-weight: 600; float: right; }
.dials input { display: block; width: 100%; min-height: 1.6rem; margin: 0; accent-color: var(--blue); }
.dials button { font: inherit; font-size: .9rem; color: inherit; background: var(--band); border: 0;
  border-radius: .3rem; padding: .35rem .8rem; cursor: pointer; }
.readouts { margin: 0; } .readouts div { padding: .15rem 0; border-bottom: 1px solid var(--band); }
.readouts dt { color: var(--quiet); font-weight: 400; font-size: .8rem; margin: 0; line-height: 1.3; }
.readouts dd { line-height: 1.35; font-size: .95rem; font-variant-numeric: tabular-nums; }
.readouts div:first-child dd { font-size: 1.2rem; font-weight: 600; }
.curve { margin: 0; } .curve svg { width: 100%; } .curve text { font-size: 11px; fill: var(--ink); }
.curve .grid { stroke: var(--band); } .curve polyline { fill: none; stroke: var(--bars); stroke-width: 1; }
.curve polyline.second, .curve polyline.third { visibility: hidden; }
.curve polyline.chosen { visibility: visible; stroke-width: 1.4; stroke: var(--quiet); stroke-dasharray: 5 3; }
.curve polyline.main.chosen { stroke: var(--blue); stroke-width: 2.6; stroke-dasharray: none; }
.curve polyline.third.chosen { stroke: var(--orange); stroke-dasharray: 1.5 3; stroke-width: 2; }
.curve circle { fill: var(--blue); stroke: var(--paper); stroke-width: 1.5; }
.key { font-size: .8rem; display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
.key span::before { content: ""; display: inline-block; width: 1.6rem; margin-right: .4rem; vertical-align: middle;
  border-top: .16rem solid var(--blue); }
.key .second::before { border-top: .12rem dashed var(--quiet); }
.key .third::before { border-top: .14rem dotted var(--orange); }
.key .others::before { border-top: .1rem solid var(--bars); }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; list-style: none; padding: 0; }
.wide { overflow-x: auto; } .narrow { display: none; }
table { border-collapse: collapse; font-size: .86rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .42rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--band); }
th.text, td.text { text-align: left; }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: .15rem 0;
  cursor: pointer; white-space: nowrap; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
tr.top td { background: var(--band); } tr.extra td { color: var(--quiet); } td.good { font-weight: 600; }
summary { cursor: pointer; font-weight: 600; margin: .6rem 0; }
figure { margin: .6rem 0; } svg { max-width: 100%; height: auto; }
svg text { font-family: system-ui, "DejaVu Sans", sans-serif !important; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
pre { background: var(--band); padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
dt { font-weight: 600; margin-top: .5rem; } dd { margin-left: 0; }
@media (max-width: 40rem) { body { padding: .7rem; } .panel { grid-template-columns: 1fr; }
  h1 { font-size: 1.15rem; } .answer { font-size: 1rem; } .explorer { padding: .6rem .7rem; }
  .wide:not(details .wide) .rarer { display: none; } .wide:not(details .wide) + .narrow { display: block; }
  table { font-size: .8rem; } th, td { padding: .25rem .3rem; }
  .wide:not(details .wide) td { white-space: normal; overflow-wrap: normal; } }
@media print { @page { margin: 14mm; } body { max-width: none; padding: 0; font-size: 9.5pt; }
  .wide { overflow: visible; } table { font-size: 7.5pt; } thead { display: table-header-group; }
  th button { display: contents; }
  th, td { padding: .1rem .2rem; overflow-wrap: normal; } .dials, nav, .short { display: none; }
  details::details-content { content-visibility: visible; } details > summary { list-style: none; }
  .explorer, figure, tr, dl div { break-inside: avoid; } h1, h2, h3, summary { break-after: avoid; } }
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
