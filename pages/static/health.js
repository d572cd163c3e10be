// Renews the page every 10 s without a reload, and says so when Plimsoll does not answer.
import { renew } from "./renew.js";

const EVERY = 10_000, SOON = 2_000, PATIENCE = 8_000;  // ms
const health = document.getElementById("health");
const notice = document.getElementById("no-answer");
let answered = new Date();
let timer;

function clock(time) {
  const options = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  try {
    return new Intl.DateTimeFormat("en-GB", { ...options, timeZone: document.documentElement.dataset.zone }).format(time);
  } catch {  // an older browser does not know offsets as zones
    return new Intl.DateTimeFormat("en-GB", options).format(time);
  }
}

async function ask() {
  const answer = await fetch(`/api/health${location.search}`, { signal: AbortSignal.timeout(PATIENCE) });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const now = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("health");
  if (!now) throw new Error("another page");
  return now;
}

async function update() {
  clearTimeout(timer);
  try {
    const now = await ask();
    renew(health, now);
    answered = new Date();
    document.title = health.dataset.title;
    notice.hidden = true;
    health.classList.remove("stale");
  } catch {
    const text = `No answer from Plimsoll since ${clock(answered)}: what is shown is old.`;
    if (notice.textContent !== text) notice.textContent = text;
    notice.hidden = false;
    health.classList.add("stale");
    document.title = "No answer · Plimsoll";
  }
  clearTimeout(timer);
  timer = setTimeout(update, EVERY);
}

document.addEventListener("visibilitychange", () => document.hidden || update());
window.addEventListener("online", update);
timer = setTimeout(update, SOON);
