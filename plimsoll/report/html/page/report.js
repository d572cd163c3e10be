// Draws charts when they come into view, zooms all of them together, shows values at the pointer, prepares printing and
// unfolds the target of a link.
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const SHORTEST_ZOOM = 4000; // ms
  const drawn = new Map(); // charts by their element
  const clock = data.charts && makeClock(data), samples = data.charts && makeSamples(data);
  let zoom = null, ratio = devicePixelRatio, Plot = loadUPlot(ratio);
  const view = () => zoom || [data.start, data.start + data.span];
  // Charts of one subject show the same instant.
  const ofSubject = (holder) => [...(holder.closest(".subject") || holder.parentElement).querySelectorAll(".chart")].filter((one) => drawn.has(one));
  const pointer = makePointer({
    chartOf: (holder) => drawn.get(holder), peers: ofSubject, clock: () => clock, view, zoom: setZoom, back: () => setZoom(null),
  });

  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  function draw(holder) {
    if (drawn.has(holder) || !holder.clientWidth) return;
    const chart = makeChart(holder, {
      Plot, data, clock, samples, colour, view, ratio, onZoom: setZoom, onReset: () => setZoom(null), onPoint: (at) => pointer.point(holder, at),
    });
    drawn.set(holder, chart);
    holder.plot = chart.plot;
  }
  function erase(holder) {
    drawn.get(holder)?.plot.destroy();
    drawn.delete(holder);
    pointer.clear(holder);
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
      const chart = drawn.get(target), size = chart?.size();
      if (chart && size.width && (size.width !== chart.plot.width || size.height !== chart.plot.height)) chart.plot.setSize(size);
    }
  });
  for (const holder of holders) { watch.observe(holder); resized.observe(holder); }

  // Draws again for another theme, another resolution, or printing.
  function redraw(resolution, all) {
    const shown = all ? holders : [...nearby];
    for (const holder of [...drawn.keys()]) erase(holder);
    if (resolution !== ratio) { ratio = resolution; Plot = loadUPlot(ratio); }
    for (const holder of shown) draw(holder);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(ratio, false));
  addEventListener("resize", () => { if (devicePixelRatio !== ratio && !root.dataset.print) redraw(devicePixelRatio, false); });

  const bar = document.getElementById("zoom");
  function setZoom(from, to) {
    if (from === null) zoom = null;
    else {
      const middle = (from + to) / 2, half = Math.max(to - from, SHORTEST_ZOOM) / 2;
      zoom = [Math.max(data.start, middle - half), Math.min(data.start + data.span, middle + half)];
      if (zoom[1] - zoom[0] >= data.span) zoom = null;
    }
    const [min, max] = view();
    for (const { plot } of drawn.values()) plot.setScale("x", { min, max });
    pointer.remove();
    bar.hidden = !zoom;
    if (zoom) bar.querySelector("span").textContent = `${clock.text(min)} – ${clock.text(max)} (${words(max - min)})`;
  }
  bar.querySelector("button").addEventListener("click", () => setZoom(null));

  for (const holder of holders) {
    holder.addEventListener("keydown", () => draw(holder));
    pointer.listen(holder);
  }

  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();

  // In print everything is unfolded except items that were never crossed, which have their row. Every chart is drawn in
  // the light theme, at a higher resolution.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open], .uneventful)")];
    for (const one of folded) one.open = true;
    root.dataset.print = "";
    redraw(2, true);
  });
  addEventListener("afterprint", () => {
    delete root.dataset.print;
    for (const one of folded) one.open = false;
    redraw(devicePixelRatio, false);
  });
})();
