// Asks the server with a time limit, and says on the page since when it has not answered.
const PATIENCE = 8000; // ms
const notice = document.getElementById("no-answer");
let last = new Date();
let loggedOut = false;

// Aborts a request that takes too long, as a server that hangs never ends it; or one that `other` aborts.
export function patience(other) {
  const limit = AbortSignal.timeout(PATIENCE);
  return other ? AbortSignal.any([other, limit]) : limit;
}

// The text of an address. It throws if the server does not answer, or refuses.
export async function ask(address) {
  const answer = await fetch(address, { signal: patience() });
  loggedOut = answer.status === 401;
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.text();
}

export function answered() {
  last = new Date();
  notice.hidden = true;
}

export function notAnswered() {
  const since = clock(last);
  const text = loggedOut ? `Your login has ended: load this page again. What is shown is of ${since}.`
    : `No answer from Plimsoll since ${since}: what is shown is old.`;
  if (notice.textContent !== text) notice.textContent = text;
  notice.hidden = false;
}

// When the last good answer came.
export const lastAnswer = () => clock(last);

// A time in the zone of the page, which it names.
export function clock(time) {
  const options = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  const zone = document.documentElement.dataset.zone;
  try {
    return `${new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone }).format(time)} ${zone}`;
  } catch { // an older browser does not know offsets as zones
    return `${time.toISOString().slice(11, 19)} UTC`;
  }
}
