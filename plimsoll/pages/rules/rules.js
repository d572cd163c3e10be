// Shows the rules that have all the words of the search, and keeps the words in the address.
const field = document.querySelector(".search input[name=q]"), shown = document.getElementById("shown"), none = document.getElementById("none");
const rows = [...document.querySelectorAll("tr[data-words]")];

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !words.every((word) => row.dataset.words.includes(word));
  for (const pack of document.querySelectorAll(".pack")) pack.hidden = !pack.querySelector("tr[data-words]:not([hidden])");
  const count = rows.filter((row) => !row.hidden).length;
  shown.textContent = `${count} ${count === 1 ? "rule" : "rules"}`;
  none.hidden = count > 0;
  const address = new URL(location.href);
  if (words.length) address.searchParams.set("q", field.value.trim()); else address.searchParams.delete("q");
  history.replaceState(null, "", address);
});
field.form.addEventListener("submit", (event) => event.preventDefault());
