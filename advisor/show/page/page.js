const enliven = root => {
for (const table of root.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.querySelectorAll("th")], body = table.tBodies[0];
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
for (const panel of root.querySelectorAll(".explorer")) {
  const data = JSON.parse(panel.querySelector("script").textContent), form = panel.querySelector("form");
  if (!form) continue;
  const inputs = [...form.querySelectorAll("input")], shown = panel.querySelectorAll(".readouts dd");
  const svg = panel.querySelector(".curve svg"), circle = svg.querySelector("circle");
  const dots = JSON.parse(svg.dataset.dots);
  const show = () => {
    const at = [...data.at];
    for (const input of inputs) {
      const place = Number(input.dataset.dial), text = data.dials[place][input.value];
      at[place] = Number(input.value);
      input.setAttribute("aria-valuetext", text);
      input.parentElement.querySelector("output").textContent = text;
    }
    data.figures[at[0]][at[1]].forEach((text, place) => { shown[place].textContent = text; });
    for (const line of svg.querySelectorAll("[data-second]"))
      line.classList.toggle("chosen", Number(line.dataset.second) === at[1]);
    const dot = dots[at[1]][at[0]];
    circle.style.display = dot ? "" : "none";
    if (dot) { circle.setAttribute("cx", dot[0]); circle.setAttribute("cy", dot[1]); }
  };
  form.hidden = false;
  form.addEventListener("input", show);
  panel.turn = at => {
    for (const input of inputs) input.value = at[Number(input.dataset.dial)];
    show();
  };
  form.addEventListener("reset", () => setTimeout(show));
  form.addEventListener("submit", event => event.preventDefault());
}
};
enliven(document);
const closed = [];
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) { one.open = true; closed.push(one); }
});
addEventListener("afterprint", () => { while (closed.length) closed.pop().open = false; });
