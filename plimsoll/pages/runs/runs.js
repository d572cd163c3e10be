// Uploads logs, keeps what is underway up to date, and lets runs be chosen.
import { answered, ask, notAnswered, patience } from "./answers.js";

const refreshed = document.getElementById("listed");
if (refreshed) refresh();
const form = document.getElementById("upload");
if (form) upload();
choose();

// Fetches the page again and puts its new part in the place of the old one, until nothing changes any more.
function refresh() {
  const { refresh: every, next } = refreshed.dataset;
  if (next) location.replace(next);
  if (every) setTimeout(again, 1000 * Number(every));
}
async function again() {
  try {
    const text = await ask(location.href);
    answered();
    if (!text.includes('id="listed"')) return location.reload(); // the report is there; its styles are not for this page
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("listed");
    if (fresh.innerHTML !== refreshed.innerHTML && !refreshed.contains(document.activeElement)) {
      const chosen = new Set([...refreshed.querySelectorAll("[name=run]:checked")].map((one) => one.value));
      refreshed.replaceChildren(...fresh.childNodes);
      for (const one of refreshed.querySelectorAll("[name=run]")) one.checked = chosen.has(one.value);
      choose();
    }
    for (const name of ["refresh", "next"]) {
      if (fresh.dataset[name]) refreshed.dataset[name] = fresh.dataset[name];
      else delete refreshed.dataset[name];
    }
  } catch {
    notAnswered();
  }
  refresh();
}

// At least two runs can be compared.
function choose() {
  const button = document.querySelector(".compare"), boxes = [...document.querySelectorAll("[name=run]")];
  if (!button) return;
  const update = () => { button.disabled = boxes.filter((one) => one.checked).length < 2; };
  for (const box of boxes) box.addEventListener("change", update);
  update();
}

function upload() {
  const input = document.getElementById("files"), about = form.querySelector(".about"), chosen = document.getElementById("chosen");
  const sending = form.querySelector(".sending"), failed = form.querySelector(".failed");
  const bar = sending.querySelector("progress"), sent = sending.querySelector(".sent");
  let files = [], request = null;

  const size = (bytes) => {
    const [at, unit] = [[2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "KB"]].find(([least]) => bytes >= least) || [1, "bytes"];
    return `${(bytes / at).toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
  };
  const total = () => files.reduce((sum, one) => sum + one.size, 0);
  const say = (text) => { failed.textContent = text; };

  function take(found) {
    files = [...found].filter((one) => one.size || one.name);
    if (!files.length) return;
    say("");
    about.hidden = false;
    chosen.textContent = `${files.length === 1 ? files[0].name : `${files.length} files`}, ${size(total())}`;
    const log = files.find((one) => one.name !== "plimsoll.toml") || files[0];
    if (!form.name.value || form.name.value === form.dataset.proposed) {
      form.dataset.proposed = form.name.value = log.name.replace(/(\.(blg|csv|tsv|txt|log|zip|tar|t?gz|bz2|xz|zst|json|lp))+$/i, "").trim().replace(/\\+$/, "").slice(0, 200);
    }
    form.name.focus();
  }
  input.addEventListener("change", () => take(input.files));

  let inside = 0; // dragenter comes for each element
  const isFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  document.addEventListener("dragenter", (event) => { if (isFiles(event)) { inside += 1; form.classList.add("dropping"); } });
  document.addEventListener("dragleave", (event) => { if (isFiles(event) && (inside -= 1) <= 0) form.classList.remove("dropping"); });
  document.addEventListener("dragover", (event) => { if (isFiles(event)) event.preventDefault(); });
  document.addEventListener("drop", async (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    inside = 0;
    form.classList.remove("dropping");
    take(await dropped(event.dataTransfer));
  });

  form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
  sending.querySelector(".stop").addEventListener("click", () => request?.abort());

  async function send() {
    say("");
    if (!files.length) return say("Choose logs first.");
    if (total() > Number(form.dataset.limit) || files.length > Number(form.dataset.most)) {
      return say(`${size(total())} in ${files.length} files is more than can be uploaded at once: pack them, or load them with plimsoll ingest.`);
    }
    const description = {
      name: form.name.value.trim(),
      labels: form.labels.value.split(",").map((one) => one.trim()).filter(Boolean),
      zone: form.zone.value.trim(),
      merge: form.merge.checked,
      files: files.map(({ name, size: bytes }) => ({ name, size: bytes })),
    };
    const body = new FormData();
    for (const name of ["name", "zone", "merge"]) body.append(name, description[name]);
    for (const label of description.labels) body.append("labels", label);
    for (const file of files) body.append("files", file);
    busy(true);
    try {
      const refused = await fetch("/api/logs/check", { method: "POST", body: JSON.stringify(description), signal: patience() });
      if (!refused.ok) throw new Error((await refused.json()).message);
      const { page } = await put(body);
      const zone = new URLSearchParams(location.search).get("zone");
      location.assign(zone ? `${page}?${new URLSearchParams({ zone })}` : page);
    } catch (error) {
      say(error instanceof TypeError || error.name === "TimeoutError" ? "The server does not answer." : error.message);
      busy(false);
    }
  }
  function busy(is) {
    about.hidden = is;
    sending.hidden = !is;
    input.disabled = is;
    bar.value = 0;
    sent.textContent = "";
  }
  // fetch does not say how much of a body was sent.
  function put(body) {
    return new Promise((done, fail) => {
      request = new XMLHttpRequest();
      request.open("POST", "/api/logs");
      request.responseType = "json";
      request.upload.addEventListener("progress", ({ loaded, total: bytes }) => {
        bar.value = loaded / bytes;
        sent.textContent = `${size(loaded)} of ${size(bytes)} sent`;
      });
      request.addEventListener("load", () => (request.status === 202 ? done(request.response) : fail(new Error(request.response?.message || "The server refused the logs."))));
      request.addEventListener("error", () => fail(new Error("The connection broke off before all was sent. Try again.")));
      request.addEventListener("abort", () => fail(new Error("It was stopped; nothing was uploaded.")));
      request.send(body);
    });
  }
}

// The files that were dropped, also those in folders.
async function dropped({ items, files }) {
  const entries = [...items].map((one) => one.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((one) => one.isDirectory)) return files;
  const found = await Promise.all(entries.map(inEntry));
  return found.flat();
}
async function inEntry(entry) {
  if (entry.isFile) return [await new Promise((done, fail) => entry.file(done, fail))];
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) break;
    found.push(...some.filter((one) => one.isFile)); // as plimsoll review does, not those of folders inside
  }
  return (await Promise.all(found.map(inEntry))).flat();
}
