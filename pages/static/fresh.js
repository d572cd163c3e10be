// Brings the parts of a page that change (data-fresh) up to date, without touching what is being typed, and says so if
// the server does not answer.
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

let lost = null;
function answered(itDid) {
  if (itDid) { lost?.remove(); lost = null; return; }
  if (lost) return;
  const since = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: zone() }).format(new Date());
  lost = document.createElement("p");
  lost.className = "lost";
  lost.setAttribute("role", "alert");
  lost.textContent = `▲ Plimsoll has not answered since ${since}: what is shown here may be out of date.`;
  document.getElementById("main").prepend(lost);
}

// Offsets are time zones of Intl only in new browsers.
function zone() {
  const name = document.documentElement.dataset.zone;
  try { new Intl.DateTimeFormat("en-GB", { timeZone: name }); return name; } catch { return undefined; }
}

async function refresh() {
  const selection = getSelection();
  if (document.hidden || (selection && !selection.isCollapsed)) return;
  let text;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(answer.statusText);
    text = await answer.text();
  } catch { answered(false); return; }
  answered(true);
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const old of document.querySelectorAll("[data-fresh]")) {
    const fresh = page.getElementById(old.id);
    if (fresh) replace(old, fresh);
  }
}

setInterval(refresh, EVERY);
document.addEventListener("visibilitychange", refresh);
