"""The small files that the golden command lines read: made anew each time, always the same."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np

from simulator import PROTOCOLS, rng_for

ROOT = Path(__file__).resolve().parents[2]
LABELS = ("amber", "blue", "coral", "denim", "ebony", "fawn", "green", "hazel")
WEIGHTS = (40, 25, 15, 8, 5, 4, 2, 1)
ESTIMATES = (0.41, 0.262, 0.144, 0.081, 0.06, 0.037, -0.012, 0.018)

# Text files by name. What is wrong with a file is its name.
TEXTS = {
    "colours.csv": "colour,people\n" + "".join(f"{a},{60 * b}\n" for a, b in zip(LABELS, WEIGHTS, strict=True)),
    "semicolons.csv": "colour;count\namber;1200\nblue;800\ncoral;95\n",
    "latin1.csv": "colour;count\ngrün;1200\nblau;800\nweiß;95\n",
    "latin1_office.csv": "Survey (a year);;\nanswer;count;share\nnie;3102;77,6\ntäglich;896;22,4\nTotal;3998;100,0\n",
    "suppressed.csv": "age,count\n0-9,120\n10-19,(D)\n20-29,80\n30-39,300\n",
    "uniq.txt": "   4320 amber\n   4266 blue\n      2 coral\n",
    "shares.csv": "colour,share\namber,0.5\nblue,0.3\ncoral,0.2\n",
    "survey_codes.csv": "answer\n" + "1\n2\n3\n2\n4\n5\n-99\n" * 40,
    "antworten.csv": "Antwort;Personen;Anteil\nnie;3102;77,6\nselten;500;12,5\noft;398;9,9\n",
    "edades.csv": "edad;habitantes\n65 años y más;110\nde 18 a 64 años;500\nmenos de 18 años;210\n",
    "bands.csv": "age,people\n0-17,210\n18-29,180\n30-44,240\n45-64,260\n65 and over,110\n",
    "ages_and_towns.csv": "id,age,town\n" + "".join(f"{i},{20 + i * i % 13},town {i * 7 % 5}\n" for i in range(1, 301)),
    "baskets.txt": "milk bread\nbread\nmilk eggs tea\n\neggs\n" * 30,
    "gaps.csv": "answer\n" + "yes\nno\n\nno\nyes\nperhaps\n" * 40,
    "domain.txt": "".join(f"{label}\n" for label in (*LABELS, "ivory", "jade")),
    "sets.txt": f"dark {LABELS[0]} {LABELS[1]}\nlight {LABELS[-1]}\n",
    "short_domain.txt": "amber\nblue\n",
    "empty.csv": "",
    "header_only.csv": "colour,count\n",
    "one_category.csv": "colour,count\namber,100\n",
    "negative.csv": "colour,count\namber,-5\nblue,6\n",
    "fractions.csv": "colour,share\namber,0.5\nblue,0.3\ncoral,0.2\n",
    "twice.csv": "colour,count\namber,5\namber,7\nblue,6\n",
    "ragged.csv": "colour,count\namber,5\nblue,6,7\n",
    "words_for_counts.csv": "colour,people\namber,many\nblue,few\n",
    "page.html": "<html><body><table><tr><td>amber</td></tr></table></body></html>\n",
    "estimate.csv": "colour,estimate\n" + "".join(f"{a},{b}\n" for a, b in zip(LABELS, ESTIMATES, strict=True)),
    "clipped.csv": "colour,estimate\n" + "".join(f"{a},{max(b, 0)}\n" for a, b in zip(LABELS, ESTIMATES, strict=True)),
    "estimate_with_gap.csv": "colour,estimate\namber,0.6\nblue,\ncoral,0.4\n",
    "estimated_counts.csv": "colour,estimate\namber,4200.5\nblue,2700.2\ncoral,1700\ndenim,900\nebony,-100\n",
    "ordered_estimate.csv": "age,estimate\n0-17,0.2\n18-29,0.21\n30-44,0.23\n45-64,0.27\n65 and over,0.1\n",
    "grid.csv": "row,col,count\n" + "".join(f"{i},{j},{(i + 1) * (j + 2)}\n" for i in range(4) for j in range(5)),
    "outside_grid.csv": "row,col,count\n0,0,5\n9,9,5\n",
    "visits.csv": "lon,lat\n" + "".join(f"{13 + i % 7 / 100},{52 + i % 5 / 200}\n" for i in range(900)),
    "method.py": "import numpy\n\n\ndef half(estimate, noise):\n    return numpy.maximum(estimate - noise.sd / 2, 0)\n"
    "\n\ndef broken(estimate, noise):\n    raise RuntimeError('out of order')\n",
    "client.py": "import math\nimport random\n\n\ndef answer(value, k, epsilon):\n"
    "    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)\n"
    "    if random.random() < p:\n        return value\n"
    "    return random.choice([other for other in range(k) if other != value])\n"
    "\n\ndef honest(value, k, epsilon):\n    return value\n",
    "meddling.py": "import os\n\nimport numpy\n\nnumpy.seterr(all='raise')\nos.chdir('/')\n"
    "\n\ndef half(estimate, noise):\n    return numpy.maximum(estimate - noise.sd / 2, 0)\n",
    "leaving.py": "import os\n\n\ndef client(value, k, epsilon):\n    os._exit(0)\n",
    "channel.csv": "0.4,0.2,0.2,0.2\n0.2,0.4,0.2,0.2\n0.2,0.2,0.4,0.2\n0.2,0.2,0.2,0.4\n",
    "channel_off.csv": "0.4,0.2,0.2\n0.2,0.9,0.2\n0.2,0.2,0.6\n",
    "line.csv": "place,count\n0,50\n1,30\n2,15\n3,5\n",
    "damaged_tally.json": '{"format": "ldp-advise tally", "version": 1}\n',
    "look_alikes.csv": "town,people\ncaf\u00e9,1200\ncafe\u0301,800\nOhio,95\nOhio\u200b,90\n",
    "formulas.csv": "cell,estimate\n=1+1,0.5\n-0.5,0.3\n@sum,0.2\n",
    "not_an_answer.json": '{"rows": []}\n',
}


def make(folder: Path) -> None:
    """Write all files into a folder, with the examples of the repository beside them."""
    draw = random.Random(20)  # noqa: S311 - files that look like people's
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="latin-1" if name.startswith("latin1") else "utf-8")
    values = [label for label, weight in zip(LABELS, WEIGHTS, strict=True) for _ in range(6 * weight)]
    draw.shuffle(values)
    (folder / "values.txt").write_text("".join(f"{value}\n" for value in values))
    (folder / "values.txt.gz").write_bytes(gzip.compress((folder / "values.txt").read_bytes(), mtime=0))
    (folder / "truncated.txt.gz").write_bytes((folder / "values.txt.gz").read_bytes()[:-20])
    (folder / "numbers.txt").write_text("".join(f"{draw.gauss(40, 9):.1f}\n" for _ in range(500)))
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "existing.json").write_text('{"kept": true}\n')
    _make_reports(folder)


def _make_reports(folder: Path) -> None:
    """Write what users send by four protocols, and reports that are none."""
    k = len(LABELS)
    held = np.repeat(np.arange(k), [6 * weight for weight in WEIGHTS])
    sent = {
        name: PROTOCOLS[name](k, 1.0).perturb(held, rng_for(0, "golden", name)) for name in ("grr", "oue", "olh", "ss")
    }
    lines = {
        "grr.txt": [str(one) for one in sent["grr"].tolist()],
        "oue.txt": ["".join(map(str, one)) for one in sent["oue"].astype(int).tolist()],
        "olh.csv": ["seed,symbol", *(f"{seed},{symbol}" for seed, symbol in sent["olh"].tolist())],
        "ss.txt": [" ".join(map(str, one)) for one in sent["ss"].tolist()],
    }
    lines["grr_outside.txt"] = [*lines["grr.txt"], "99"]
    lines["oue_mixed.txt"] = ["00010010", "0001", "00010011"]
    lines["oue_cut.txt"] = [*lines["oue.txt"], "0001"]
    lines["survey.csv"] = ["answer,n", "no,1604", "yes,831"]
    lines["sums.csv"] = ["total,a,b,c", "4000,2210,1790,1605", "6000,3310,2690,2405"]
    lines["grr_missing.txt"] = [*lines["grr.txt"], "", "NA", "3"]
    for name, rows in lines.items():
        (folder / name).write_text("".join(f"{row}\n" for row in rows))
