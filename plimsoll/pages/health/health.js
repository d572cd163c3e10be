// Renews the page every 10 s without a reload, and says so when Plimsoll does not answer.
import { answered, ask, lastAnswer, notAnswered } from "./answers.js";
import { renew } from "./renew.js";

const EVERY = 10_000, SOON = 2_000, TYPED = 200;  // ms
const health = document.getElementById("health");
let timer;

async function fresh() {
  const text = await ask(`/api/health${location.search}`);
  const now = new DOMParser().parseFromString(text, "text/html").getElementById("health");
  if (!now) throw new Error("another page");
  return now;
}

async function update() {
  clearTimeout(timer);
  try {
    const now = await fresh();
    renew(health, now);
    answered();
    document.title = health.dataset.title;
    health.classList.remove("stale");
  } catch {
    notAnswered();
    if (!health.classList.contains("stale")) health.querySelector(".basis").prepend(`as it was at ${lastAnswer()}: `);
    health.classList.add("stale");
    document.title = "No answer · Plimsoll";
  }
  clearTimeout(timer);
  timer = setTimeout(update, EVERY);
}

// The hosts that are looked for are shown while one types; without a script the form has a button.
let typing;
function look(event) {
  const form = event.target.closest("#choose");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
    history.replaceState(null, "", asked.size ? `?${asked}` : location.pathname);
    update();
  }, TYPED);
}
health.addEventListener("input", look);

document.addEventListener("visibilitychange", () => document.hidden || update());
window.addEventListener("online", update);
timer = setTimeout(update, SOON);
