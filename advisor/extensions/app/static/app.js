// The page of `ldp-advise app`: files into memory, messages beside controls, the address, and dials.
"use strict";

// What somebody has unfolded stays so when the answer is replaced by a newer one.
const unfolded = new Set();
const titleOf = details => details.querySelector("summary")?.textContent ?? "";
document.addEventListener("toggle", event => {
  const details = event.target;
  if (!details.isConnected || !details.closest("#answer")) return;
  if (details.open) unfolded.add(titleOf(details)); else unfolded.delete(titleOf(details));
}, true);

// A dial that has the focus keeps it when its curve is replaced by a newer one.
let dial = null;
document.addEventListener("focusin", event => { dial = event.target.dataset.dial ?? null; });
document.addEventListener("pointerdown", event => { if (event.target.dataset?.dial === undefined) dial = null; });

const one = (selector, root = document) => root.querySelector(selector);
const tell = (name, value) => window.Shiny.setInputValue(name, value, { priority: "event" });

// What the page is set to, as each piece of an answer says it of itself: a piece of an older answer turns grey at once.
const form = one("form.controls"), drop = one("label.drop"), upload = one(".upload");
const valueOf = control => control.matches(".checks")
  ? [...control.querySelectorAll(":checked")].map(box => box.value).join(",") : control.value.trim();
const setting = () => [one("#shape")?.value ?? "", drop.dataset.digest,
  ...[...form.querySelectorAll(".field [id]:is(input[type=text], select, .checks)")].map(valueOf)].join("\n");
function dim(turned = null) {
  const now = setting();
  for (const mark of document.querySelectorAll("data.setting"))
    mark.parentElement.classList.toggle("older", mark.value !== now || (turned !== null && !mark.parentElement.contains(turned)));
}
for (const kind of ["input", "change"]) form.addEventListener(kind, () => dim());

// What comes later can be sorted and turned as what came first.
new MutationObserver(changes => {
  for (const change of changes)
    for (const node of change.addedNodes)
      if (node.nodeType === Node.ELEMENT_NODE && node.parentElement) brighten(node);
  dim();
}).observe(document.body, { childList: true, subtree: true });

function brighten(node) {
  const holder = { querySelectorAll: what => [...(node.matches(what) ? [node] : []), ...node.querySelectorAll(what)] };
  enliven(holder);
  for (const details of holder.querySelectorAll("#answer details")) if (unfolded.has(titleOf(details))) details.open = true;
  // On a phone such a picture is wider than the page: its figure scrolls, by keys too.
  for (const figure of holder.querySelectorAll("#rest figure")) figure.tabIndex = 0;
  for (const panel of holder.querySelectorAll(".explorer")) {
    const form = one("form", panel), mark = panel.parentElement.querySelector("data.setting");
    if (!form) continue;
    const values = JSON.parse(one('script[type="application/json"]', panel).textContent).values;
    const send = () => {
      const at = [0, 0];
      for (const input of form.querySelectorAll("input")) at[Number(input.dataset.dial)] = Number(input.value);
      setText("eps", String(values[0][at[0]]));
      setText("n", String(values[1][at[1]]));
      if (mark) mark.value = setting();  // its figures are those of the dials
      dim();
    };
    form.addEventListener("input", () => dim(panel));
    form.addEventListener("change", send);
    form.addEventListener("reset", () => setTimeout(send));
    draggable(panel, form);
    if (dial !== null && document.activeElement === document.body)
      one(`input[data-dial="${dial}"]`, form)?.focus({ preventScroll: true });
  }
}

// The point on the curve follows the pointer along the first dial.
function draggable(panel, form) {
  const svg = one(".curve svg", panel), input = one('input[data-dial="0"]', form);
  if (!svg || !input) return;
  const dots = JSON.parse(svg.dataset.dots);
  const row = () => dots[Number(one('input[data-dial="1"]', form)?.value ?? 0)] ?? dots[0];
  const follow = event => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = -1, least = Infinity;
    row().forEach((dot, at) => {
      if (dot && Math.abs(dot[0] - place.x) < least) [best, least] = [at, Math.abs(dot[0] - place.x)];
    });
    if (best >= 0 && Number(input.value) !== best) {
      input.value = best;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); follow(event); });
  svg.addEventListener("pointermove", event => { if (svg.hasPointerCapture(event.pointerId)) follow(event); });
  svg.addEventListener("pointerup", () => input.dispatchEvent(new Event("change", { bubbles: true })));
}

// What is wrong stands beside the control that is wrong.
function showErrors(messages) {
  for (const place of document.querySelectorAll(".error")) {
    const name = place.id.replace(/-error$/, ""), text = messages[name] ?? "";
    if (place.textContent !== text) place.textContent = text;
    const control = name === "data" ? one(".upload") : document.getElementById(name);
    for (const invalid of [control, one(`.pick[data-for="${name}"]`)])
      if (invalid) text ? invalid.setAttribute("aria-invalid", "true") : invalid.removeAttribute("aria-invalid");
    if (text) place.closest("details")?.setAttribute("open", "");
  }
}

function showWork({ words, share, running, offers }) {
  const row = one(".work"), bar = one("progress", row), simulate = one("#simulate", row), cancel = one("#cancel", row);
  const focused = document.activeElement === cancel;
  one(".work-words", row).textContent = words;
  bar.hidden = !running;
  if (share === null) bar.removeAttribute("value"); else bar.value = share;
  cancel.hidden = !running;
  simulate.hidden = !offers;
  if (focused && !running) (offers ? simulate : one("#answer")).focus();  // focus must not fall off the page
}

function setText(name, text) {
  const input = document.getElementById(name);
  if (!input || input.value === text) return;
  input.value = text;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

// Sets controls as a button says: what would change the answer.
function setAll(values) {
  for (const [name, text] of Object.entries(values)) {
    setText(name, text);
    document.getElementById(name)?.closest("details")?.setAttribute("open", "");
  }
  one("#answer").focus({ preventScroll: true });  // the button goes with its answer
}

// Where a file has several columns, they are picked instead of typed; what is set is the text all the same.
function showColumns(columns) {
  for (const pick of document.querySelectorAll(".pick")) {
    const input = document.getElementById(pick.dataset.for), value = input.value;
    const options = columns.map(([name, words]) => new Option(words, name));
    if (value && !columns.some(([name]) => name === value)) options.push(new Option(value, value));
    pick.replaceChildren(new Option("as the file says", ""), ...options);
    pick.value = value;
    pick.hidden = !columns.length;
    input.hidden = !pick.hidden;
  }
}
document.addEventListener("change", ({ target }) => {
  const pick = one(`.pick[data-for="${target.id}"]`);
  if (target.matches(".pick")) setText(target.dataset.for, target.value); else if (pick) pick.value = target.value;
});
const forgetColumns = () => { for (const pick of document.querySelectorAll(".pick")) setText(pick.dataset.for, ""); };

function receive(file) {
  const bar = one(".uploading"), name = one(".file-name"), limit = 50e6;
  showErrors({});
  if (file.size > limit) {
    showErrors({ data: "The file is larger than 50 MB: ldp-advise reads larger ones on the command line." });
    return;
  }
  const request = new XMLHttpRequest();
  request.open("POST", `upload?name=${encodeURIComponent(file.name)}`);
  request.responseType = "json";
  request.upload.onprogress = event => { bar.value = event.loaded / (event.total || 1); };
  request.onloadend = () => {
    bar.hidden = true;
    const answer = request.response;
    if (request.status !== 200 || !answer) {
      showErrors({ data: answer?.error ?? "The file did not arrive: is ldp-advise app still running?" });
      return;
    }
    name.textContent = answer.name;
    drop.dataset.digest = answer.digest;
    one(".invite")?.remove();
    const shape = one("#shape");
    if (shape) {
      shape.value = "";
      shape.dispatchEvent(new Event("change", { bubbles: true }));  // else the same shape could not be picked again
    }
    for (const input of document.querySelectorAll("[data-start]")) setText(input.id, "");
    forgetColumns();
    dim();
    tell("dropped", answer);
  };
  bar.hidden = false;
  request.send(file);
}

// A file can be dropped anywhere: it must not replace the page.
upload.addEventListener("change", () => { if (upload.files[0]) receive(upload.files[0]); upload.value = ""; });
const over = is => { for (const place of document.querySelectorAll(".drop")) place.classList.toggle("over", is); };
window.addEventListener("dragover", event => { event.preventDefault(); over(true); });
window.addEventListener("dragleave", event => { if (!event.relatedTarget) over(false); });
window.addEventListener("drop", event => {
  event.preventDefault();
  over(false);
  if (event.dataTransfer.files[0]) receive(event.dataTransfer.files[0]);
});

one("#shape")?.addEventListener("change", event => {
  if (!event.target.value) return;
  drop.dataset.digest = "";
  forgetColumns();
  one(".file-name").textContent = "Drop a file here, or choose one";
  for (const input of document.querySelectorAll("[data-start]")) if (!input.value) setText(input.id, input.dataset.start);
});
one(".advise")?.addEventListener("click", () => setText("eps", ""));
form.addEventListener("submit", event => event.preventDefault());
document.addEventListener("click", async event => {
  const button = event.target.closest("button.copy, button.change, button.again, button.drop");
  if (!button) return;
  if (button.matches(".change")) setAll(JSON.parse(button.dataset.set));
  if (button.matches(".again")) tell("again", Date.now());
  if (button.matches(".drop")) upload.click();
  if (!button.matches(".copy")) return;
  const code = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  } catch {
    getSelection().selectAllChildren(code);  // where the browser does not let us, one key does the rest
  }
});

const listen = () => {
  const on = (name, what) => window.Shiny.addCustomMessageHandler(name, what);
  on("errors", showErrors);
  on("work", showWork);
  on("columns", showColumns);
  on("address", query => {
    history.replaceState(null, "", `?${query}`);
    const advise = one(".advise");
    if (advise) advise.hidden = !one("#eps").value;
  });
  on("turn", ({ at, setting }) => {
    one(".explorer")?.turn?.(at);
    one("#explorer data.setting")?.setAttribute("value", setting);
    dim();
  });
};
if (window.Shiny?.addCustomMessageHandler) listen();
else document.addEventListener("DOMContentLoaded", listen);
