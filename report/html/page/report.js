// Draws charts as they come into view, keeps one time range for all of them, reads values, prints, follows links.
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const LEAST = 4000; // ms: no zoom goes below
  const live = new Map(); // charts by their element
  const clock = data.charts && makeClock(data), samples = data.charts && makeSamples(data);
  let zoom = null, ratio = devicePixelRatio, Plot = loadUPlot(ratio), cursor = null;
  const view = () => zoom || [data.start, data.start + data.span];

  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  function draw(holder) {
    if (live.has(holder) || !holder.clientWidth) return;
    const chart = makeChart(holder, {
      Plot, data, clock, samples, colour, view, ratio, onZoom: setZoom, onReset: () => setZoom(null), onPoint: (at) => point(holder, at),
    });
    live.set(holder, chart);
    holder.plot = chart.plot;
  }
  function erase(holder) {
    live.get(holder)?.plot.destroy();
    live.delete(holder);
    for (const old of holder.querySelectorAll(".cursor, .reading")) old.remove();
  }
  const holders = [...document.querySelectorAll(".chart")];
  const nearby = new Set();
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting) { nearby.add(target); draw(target); } else nearby.delete(target);
    }
  }, { rootMargin: "300px 0px" });
  const resized = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const chart = live.get(target), size = chart?.size();
      if (chart && size.width && (size.width !== chart.plot.width || size.height !== chart.plot.height)) chart.plot.setSize(size);
    }
  });
  for (const holder of holders) { watch.observe(holder); resized.observe(holder); }

  // Anew: another theme, another resolution, or paper.
  function again(resolution, all) {
    const shown = all ? holders : [...nearby];
    for (const holder of [...live.keys()]) erase(holder);
    if (resolution !== ratio) { ratio = resolution; Plot = loadUPlot(ratio); }
    for (const holder of shown) draw(holder);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again(ratio, false));
  addEventListener("resize", () => { if (devicePixelRatio !== ratio && !root.dataset.print) again(devicePixelRatio, false); });

  const bar = document.getElementById("zoom");
  function setZoom(from, to) {
    if (from === null) zoom = null;
    else {
      const middle = (from + to) / 2, half = Math.max(to - from, LEAST) / 2;
      zoom = [Math.max(data.start, middle - half), Math.min(data.start + data.span, middle + half)];
      if (zoom[1] - zoom[0] >= data.span) zoom = null;
    }
    const [min, max] = view();
    for (const { plot } of live.values()) plot.setScale("x", { min, max });
    if (cursor) point(cursor.holder, null);
    bar.hidden = !zoom;
    if (zoom) bar.querySelector("span").textContent = `${clock.text(min)} – ${clock.text(max)} (${words(max - min)})`;
  }
  bar.querySelector("button").addEventListener("click", () => setZoom(null));

  // Charts of one subject share the instant that is pointed at.
  const alike = (holder) => [...(holder.closest(".subject") || holder.parentElement).querySelectorAll(".chart")].filter((one) => live.has(one));
  function element(parent, name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }
  function point(holder, at) {
    for (const other of alike(holder)) {
      for (const old of other.querySelectorAll(".cursor, .reading")) old.remove();
      if (at !== null) read(live.get(other), at);
    }
    cursor = at === null ? null : { holder, at };
  }
  function read({ holder, plot, kind, values }, at) {
    const x = plot.valToPos(at, "x"), wide = plot.over.clientWidth;
    if (x < 0 || x > wide) return;
    element(plot.over, "div", "cursor").style.left = `${x}px`;
    const reading = element(plot.over, "div", "reading");
    if (kind !== "strip") element(reading, "b", "", clock.text(at));
    for (const [label, value] of values(at)) {
      const row = element(reading, "div", "");
      element(row, "span", "", label);
      element(row, "b", "", value);
    }
    const least = -plot.over.offsetLeft, most = holder.clientWidth - plot.over.offsetLeft - reading.offsetWidth;
    const beside = x < wide / 2 ? x + 9 : x - 9 - reading.offsetWidth;
    reading.style.left = `${Math.max(least, Math.min(most, beside))}px`;
  }
  for (const holder of holders) {
    holder.addEventListener("blur", () => live.has(holder) && point(holder, null));
    holder.addEventListener("keydown", (event) => {
      draw(holder);
      const chart = live.get(holder), [from, to] = view();
      if (!chart || event.ctrlKey || event.altKey || event.metaKey) return;
      const at = cursor && cursor.holder === holder ? cursor.at : (from + to) / 2;
      const step = Math.max(chart.every, (to - from) / chart.plot.over.clientWidth);
      const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -20, PageUp: 20 }[event.key];
      if (by) point(holder, Math.max(from, Math.min(to, at + by * step)));
      else if (event.key === "+") setZoom(at - (to - from) / 4, at + (to - from) / 4);
      else if (event.key === "-") setZoom(at - (to - from), at + (to - from));
      else if (event.key === "Escape") { if (cursor) point(holder, null); else setZoom(null); }
      else return;
      event.preventDefault();
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

  // On paper everything is unfolded but the charts of what never came near its limit, which has its row; every chart
  // is drawn in the colours of the light theme, finely, whole.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .uneventful)")];
    for (const one of folded) one.open = true;
    root.dataset.print = "";
    again(2, true);
  });
  addEventListener("afterprint", () => {
    delete root.dataset.print;
    for (const one of folded) one.open = false;
    again(devicePixelRatio, false);
  });
})();
