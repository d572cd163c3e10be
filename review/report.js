// Shows the values under the pointer, opens what a link leads to, and unfolds everything for print.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const two = (n) => String(n).padStart(2, "0");
  const severalDays = data.clock && day(data.start) !== day(data.end);

  function local(ms) {
    let ahead = data.clock[0][1];
    for (const [from, minutes] of data.clock) if (ms >= from) ahead = minutes;
    return new Date(ms + ahead * 60000);
  }
  function day(ms) {
    const at = local(ms);
    return `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  }
  function clock(ms) {
    const at = local(ms);
    const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
    return severalDays ? `${day(ms)} ${time}` : time;
  }
  function number(value) {
    const size = Math.abs(value);
    const digits = size >= 100 || Number.isInteger(value) ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
    return value.toLocaleString("en", digits);
  }
  // The values of a line at a share of the time axis: those of the step there, or of the nearest within two steps.
  function values(line, share) {
    const high = line.high || line.low;
    const middle = Math.min(line.low.length - 1, Math.floor(share * line.low.length));
    for (const off of [0, -1, 1, -2, 2]) {
      const low = line.low[middle + off];
      if (low === null || low === undefined) continue;
      const most = number(high[middle + off]), least = number(low);
      return least === most ? least : `${least} – ${most}`;
    }
    return null;
  }
  function element(parent, name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }
  function show(chart, share) {
    const plot = chart.querySelector(".plot");
    const { unit, lines } = data.charts[chart.dataset.chart];
    hide(chart);
    const at = `${100 * share}%`;
    element(plot, "div", "cursor").style.left = at;
    const reading = element(plot, "div", "reading");
    if (!chart.classList.contains("strip")) element(reading, "b", "", clock(data.start + share * (data.end - data.start)));
    for (const line of [...lines].reverse()) {
      const row = element(reading, "div", "");
      element(row, "span", "", line.label);
      const found = values(line, share);
      element(row, "b", "", found === null ? "no sample" : `${found} ${unit}`.trim());
    }
    const room = plot.clientWidth - reading.offsetWidth;
    const beside = share * plot.clientWidth + (share < 0.5 ? 9 : -9 - reading.offsetWidth);
    reading.style.left = `${Math.max(Math.min(0, room), Math.min(room, beside))}px`;
  }
  function hide(chart) {
    for (const old of chart.querySelectorAll(".cursor, .reading")) old.remove();
  }
  // Charts of one subject share the instant.
  const alike = (plot) => plot.closest(".subject").querySelectorAll(".chart");

  for (const plot of document.querySelectorAll(".plot")) {
    let share = 0.5;
    const all = () => { for (const chart of alike(plot)) show(chart, share); };
    const none = () => { for (const chart of alike(plot)) hide(chart); };
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
      all();
    });
    plot.addEventListener("pointerleave", none);
    plot.addEventListener("blur", none);
    plot.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -20, PageUp: 20 }[event.key];
      if (event.key === "Escape") return none();
      if (!by) return undefined;
      event.preventDefault();
      const steps = Math.max(...data.charts[plot.closest(".chart").dataset.chart].lines.map((line) => line.low.length));
      share = Math.max(0, Math.min(1, share + by / steps));
      return all();
    });
  }

  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
})();
