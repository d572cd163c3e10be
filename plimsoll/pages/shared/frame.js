// What every page has: the browser's own zone among the zones, and folds that Escape closes.
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
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
