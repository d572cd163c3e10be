// Brings the parts of a page that change (data-fresh) up to date, without touching what is being typed, and says so if
// the server does not answer.
import { answered, ask, notAnswered } from "./answers.js";

const EVERY = 10000; // ms

function replace(old, fresh) {
  if (old.innerHTML === fresh.innerHTML) return;
  const unfolded = [...old.querySelectorAll("details[open][id]")].map((one) => one.id);
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const same = focused && (focused.id ? `#${CSS.escape(focused.id)}` : `a[href="${CSS.escape(focused.getAttribute("href") || "")}"]`);
  old.replaceChildren(...fresh.childNodes);
  for (const id of unfolded) old.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
  if (same) old.querySelector(same)?.focus({ preventScroll: true });
}

async function refresh() {
  const selection = getSelection();
  if (document.hidden || (selection && !selection.isCollapsed)) return;
  let text;
  try {
    text = await ask(location.href);
  } catch { notAnswered(); return; }
  answered();
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const old of document.querySelectorAll("[data-fresh]")) {
    const fresh = page.getElementById(old.id);
    if (fresh) replace(old, fresh);
  }
}

setInterval(refresh, EVERY);
document.addEventListener("visibilitychange", refresh);
