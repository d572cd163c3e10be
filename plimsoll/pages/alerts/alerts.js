// Remembers the name of who silences and acknowledges in this browser, and says what a new silence would match.
import { ask } from "./answers.js";

const KEY = "plimsoll-name";
const PAUSE = 250; // ms after a key

for (const field of document.querySelectorAll('input[name="who"]')) {
  if (!field.value) field.value = localStorage.getItem(KEY) || "";
  field.form.addEventListener("submit", () => localStorage.setItem(KEY, field.value.trim()));
}

for (const form of document.querySelectorAll("form.silence")) {
  const said = form.querySelector("output");
  let waiting = 0;
  const look = async () => {
    const { rule, host, instance } = form.elements;
    if (!rule.value.trim()) { said.textContent = ""; return; }
    const asked = new URLSearchParams({ rule: rule.value, host: host.value, instance: instance.value });
    try {
      said.textContent = await ask(`${form.dataset.matches}?${asked}`);
    } catch { said.textContent = ""; }
  };
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, PAUSE); });
  look();
}
