// What every page has: times in the reader's own zone unless another was chosen, and folds that Escape closes.
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const shown = document.documentElement.dataset.zone;
const kept = () => document.cookie.split("; ").find((one) => one.startsWith("zone="));
const keep = (zone) => { document.cookie = `zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`; };

if (new URLSearchParams(location.search).has("zone")) keep(shown);
else if (own && !kept()) {
  keep(own);
  if (own !== shown && kept()) location.reload();
}

const zones = document.querySelector(".zones");
const there = [...zones.querySelectorAll("a")].map((link) => link.textContent);
if (own && !there.includes(own)) {
  const address = new URL(location.href);
  address.searchParams.set("zone", own);
  const link = document.createElement("a");
  link.href = address.search;
  link.textContent = own;
  zones.append(link);
}

document.addEventListener("keydown", (event) => {
  const fold = event.key === "Escape" && event.target.closest("details.pick[open]");
  if (!fold) return;
  fold.open = false;
  fold.querySelector("summary").focus();
});
