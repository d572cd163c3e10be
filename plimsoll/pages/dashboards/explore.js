// Finds series while somebody types. Without this script the form does.
import { ask } from "./answers.js";

const PAUSE = 200; // ms after the last key
const field = document.querySelector(".search [name=q]");
const found = document.getElementById("found");
let waiting = 0;
let asked = 0;

field.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(find, PAUSE);
});

async function find() {
  const query = new URLSearchParams(location.search);
  query.set("q", field.value);
  const own = ++asked;
  try {
    const text = await ask(`/explore/found?${query}`);
    if (own === asked) found.innerHTML = text;
  } catch {
    if (own === asked) found.textContent = "No answer from Plimsoll: try again.";
  }
}
