// Ctrl-K (Cmd-K) opens a field that finds hosts, signals, runs and rules; the arrow keys and Enter choose.
import { ask } from "./answers.js";

const PAUSE = 120; // ms after a key
const dialog = document.getElementById("find"), field = dialog.querySelector("input");
const list = dialog.querySelector("ul"), said = dialog.querySelector("output");
let waiting = 0, asked = 0;

function open() {
  if (dialog.open) return;
  dialog.showModal();
  field.select();
}

async function look() {
  const text = field.value.trim(), mine = ++asked, zone = new URLSearchParams(location.search).get("zone");
  let found = [];
  try {
    if (text) found = JSON.parse(await ask(`/api/find?${new URLSearchParams({ q: text, ...(zone && { zone }) })}`));
  } catch {
    said.textContent = "No answer from Plimsoll.";
    return;
  }
  if (mine !== asked) return;
  list.replaceChildren(...found.map(({ kind, name, link }) => {
    const entry = document.createElement("li"), to = document.createElement("a"), what = document.createElement("small");
    to.href = link;
    what.textContent = kind;
    to.append(what, name);
    entry.append(to);
    return entry;
  }));
  said.textContent = text ? (found.length ? `${found.length} found` : "Nothing has this name.") : "";
}

function step(by) {
  const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  const next = at + by;
  if (next < 0) field.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    open();
  } else if (dialog.open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  } else if (dialog.open && event.key === "Enter" && document.activeElement === field) {
    event.preventDefault();
    list.querySelector("a")?.click();
  }
});
field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, PAUSE); });
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
for (const button of document.querySelectorAll(".find-button")) {
  button.hidden = false;
  button.addEventListener("click", open);
}
