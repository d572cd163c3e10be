// Draws the charts of a page from GET /api/charts. They share the time range, which is part of the address, and the
// instant under the pointer. While the range ends now they are drawn anew as time passes.
import { saveCsv, savePng } from "./saving.js";
import { ask, clock as clockText, patience } from "./answers.js";

const SHORTEST = 4000; // ms: of a range
const POLL_S = 10;
const AT_ONCE = 12; // charts of one request
const NEARBY = "400px 0px";
const SYMBOLS = { critical: "◆", warning: "▲", info: "○" };
class NoAnswer extends Error {}
const root = document.documentElement;
const entries = [...document.querySelectorAll(".charts .live-chart")].map((figure) => entry(figure));
const sections = [...document.querySelectorAll("section.charts")];

if (entries.length) start();
for (const one of document.querySelectorAll(".charts .live-table")) table(one);
addEventListener("hashchange", reveal);
reveal();

// The target of a link, in an unfolded row.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}

// A table of last values, which the server makes when it comes into view.
function table(holder) {
  const body = part(holder, "div", "scroll");
  const watch = new IntersectionObserver(async (seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    watch.disconnect();
    const query = new URLSearchParams(location.search);
    query.set("chart", holder.dataset.chart);
    try {
      body.innerHTML = await ask(`/api/table?${query}`);
    } catch {
      body.textContent = "No answer from Plimsoll: load this page again.";
    }
  });
  watch.observe(holder);
}

function entry(figure) {
  const one = { figure, section: figure.closest(".charts"), hidden: new Set(), near: false, loaded: "", chart: null, data: null };
  one.links = part(figure, "p", "limits");
  one.holder = part(figure, "div", `chart ${["full", "small", "strip"].find((size) => figure.classList.contains(size)) || "small"}`);
  Object.assign(one.holder, { tabIndex: 0, role: "img", ariaLabel: figure.querySelector("figcaption")?.textContent.trim() || "Chart" });
  one.holder.setAttribute("role", "img");
  one.legend = part(figure, "div", "legend");
  one.alerts = part(figure, "p", "alerted");
  const foot = part(figure, "div", "foot");
  one.caption = part(foot, "p", "drawn");
  one.tools = part(foot, "div", "tools-of");
  for (const [name, save] of [["CSV", saveCsv], ["PNG", savePng]]) {
    const button = part(one.tools, "button", "", name);
    Object.assign(button, { type: "button", title: `Save this chart as ${name}` });
    button.addEventListener("click", () => one.chart && save(one));
  }
  for (const made of [one.links, one.legend, one.alerts]) made.hidden = true;
  return one;
}
function part(parent, name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function start() {
  const { from, to, now } = sections[0].dataset;
  const skew = now ? Number(now) - Date.now() : 0; // the server's clock counts
  let asked = { from, to }, range = resolved(asked), ratio = devicePixelRatio, Plot = loadUPlot(ratio), loads = new AbortController(), timer = null, answered = null;
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const drawn = () => entries.filter((one) => one.chart);
  const byHolder = new Map(entries.map((one) => [one.holder, one]));
  const view = () => range;
  const pointer = makePointer({
    chartOf: (holder) => byHolder.get(holder)?.chart, peers: () => drawn().map((one) => one.holder),
    clock: () => drawn()[0].clock, view, zoom, back,
  });
  history.replaceState({ ...history.state, asked, first: history.state?.first }, "");

  const stale = document.createElement("p");
  Object.assign(stale, { className: "stale", hidden: true });
  stale.setAttribute("role", "status");
  sections[0].before(stale);
  const bar = document.createElement("p");
  Object.assign(bar, { className: "zoomed", hidden: true });
  const zoomed = part(bar, "span", ""), reset = part(bar, "button", "", "Reset");
  reset.type = "button";
  reset.addEventListener("click", back);
  sections[0].before(bar);

  // The texts of an address as ms.
  function resolved({ from, to }) {
    const current = Date.now() + skew;
    const at = (text, other) => {
      const ago = /^now(?:-(\d+)([smhd]))?$/.exec(text || other);
      return ago ? current - Number(ago[1] || 0) * { s: 1e3, m: 6e4, h: 36e5, d: 864e5 }[ago[2] || "s"] : Number(text);
    };
    return [at(from, "now-1h"), at(to, "now")];
  }
  const live = () => (asked.to || "now") === "now";

  // A chart that is drawn anew forgets the drag over it, so new data wait for the end of a drag.
  let dragged = null;
  addEventListener("mousedown", (event) => {
    if (event.button === 0 && event.target.closest?.(".live-chart .chart")) dragged = new Promise((done) => addEventListener("mouseup", () => setTimeout(done), { once: true }));
  });

  async function load(some) {
    const batches = [];
    for (let n = 0; n < some.length; n += AT_ONCE) batches.push(some.slice(n, n + AT_ONCE));
    await Promise.all(batches.map(fetched));
  }
  async function fetched(some) {
    const key = range.join(), [from, to] = range;
    const wide = Math.max(...some.map((one) => one.holder.clientWidth)) || 800;
    const query = new URLSearchParams(some.map((one) => ["chart", one.figure.dataset.chart]));
    for (const [name, value] of Object.entries({ from: Math.floor(from), to: Math.ceil(to), width: Math.round(wide * Math.min(2, devicePixelRatio)) })) query.set(name, value);
    const zone = new URLSearchParams(location.search).get("zone");
    if (zone) query.set("zone", zone);
    for (const one of some) {
      one.loaded = key;
      one.figure.setAttribute("aria-busy", "true");
    }
    try {
      const data = await asJson(fetch(`/api/charts?${query}`, { signal: patience(loads.signal) }));
      await dragged;
      stale.hidden = true;
      answered = new Date();
      const clock = makeClock(data), samples = makeSamples(data);
      some.forEach((one, number) => {
        if (one.loaded !== key) return;
        Object.assign(one, { data, clock, samples, spec: data.charts[number] });
        one.holder.dataset.chart = number;
        draw(one);
        describe(one);
      });
      pointer.again();
      told();
    } catch (error) {
      for (const one of some) if (one.loaded === key) one.loaded = "";
      if (error.name === "AbortError") return;
      if (!(error instanceof NoAnswer)) throw error;
      stale.textContent = `These charts are ${answered ? `as they were at ${clockText(answered)}` : "not drawn"}: ${error.message}. Trying again every ${POLL_S} s.`;
      stale.hidden = false;
      clearTimeout(timer);
      timer = setTimeout(renew, POLL_S * 1000);
    } finally {
      for (const one of some) if (!one.loaded || one.loaded === key) one.figure.removeAttribute("aria-busy");
    }
  }
  async function asJson(request) {
    let answer, data;
    try {
      answer = await request;
      data = await answer.json();
    } catch (error) {
      throw error.name === "AbortError" ? error : new NoAnswer("the server does not answer");
    }
    if (!answer.ok) throw new NoAnswer(data.error || data.message || answer.statusText);
    return data;
  }

  function draw(one) {
    erase(one);
    one.figure.classList.toggle("empty", !one.spec?.lines.length);
    if (!one.spec?.lines.length || !one.holder.clientWidth) return;
    one.chart = makeChart(one.holder, {
      Plot, data: one.data, clock: one.clock, samples: one.samples, colour, view, ratio,
      onZoom: zoom, onReset: back, onPoint: (at) => pointer.point(one.holder, at),
    });
    one.spec.lines.forEach(([, label], at) => { if (one.hidden.has(label)) one.chart.toggle(at, false); });
    one.holder.plot = one.chart.plot;
  }
  function erase(one) {
    one.chart?.plot.destroy();
    one.chart = null;
    pointer.clear(one.holder);
  }

  // What stands around a chart: its limits with their rules, its lines, its alerts, and how it is drawn.
  function describe(one) {
    const { spec } = one;
    one.holder.ariaLabel = spec.label;
    const title = one.figure.querySelector("figcaption a") || one.figure.querySelector("figcaption");
    if (title && spec.lines.length) title.textContent = spec.title.replace(` · ${one.section.dataset.host}`, ""); // names the host unless the page does
    one.links.replaceChildren();
    if (spec.legend.length === 1) part(one.links, "b", "", spec.legend[0][2]);
    for (const [id, text, severity] of spec.rules) {
      const link = part(one.links, "a", "", `${SYMBOLS[severity]} ${text}`);
      link.href = address(`/rules/${encodeURIComponent(id)}`);
      link.title = `Rule ${id}`;
    }
    if (spec.note) part(one.links, "span", "", spec.note);
    one.links.hidden = !one.links.childNodes.length;
    legend(one);
    one.alerts.replaceChildren();
    const latest = spec.alerts.slice(-3).reverse();
    for (const { id, severity, text, place } of latest) {
      const link = part(one.alerts, "a", severity, `${SYMBOLS[severity]} ${place} ${text}`);
      link.href = address(`/alerts/${id}`);
    }
    if (spec.alerts.length > latest.length) part(one.alerts, "span", "", `and ${spec.alerts.length - latest.length} more alerts`);
    one.alerts.hidden = !latest.length;
    one.caption.textContent = spec.caption;
  }
  function legend(one) {
    const { spec } = one;
    const focused = one.legend.contains(document.activeElement) ? document.activeElement.textContent : null;
    const open = one.legend.querySelector("details")?.open;
    one.legend.replaceChildren();
    one.legend.hidden = spec.lines.length < 2 && !spec.more.length;
    if (one.legend.hidden) return;
    spec.legend.forEach(([label, , last], at) => {
      const button = part(one.legend, "button", "");
      button.type = "button";
      part(button, "i", `key ${spec.lines[at][2]}`);
      part(button, "span", "", label);
      part(button, "b", "", last);
      button.setAttribute("aria-pressed", String(!one.hidden.has(label)));
      button.addEventListener("click", () => {
        const shown = one.hidden.has(label);
        one.hidden[shown ? "delete" : "add"](label);
        button.setAttribute("aria-pressed", String(shown));
        one.chart?.toggle(at, shown);
      });
      for (const begin of ["mouseenter", "focus"]) button.addEventListener(begin, () => one.chart?.stress(at));
      for (const end of ["mouseleave", "blur"]) button.addEventListener(end, () => one.chart?.stress(null));
      if (button.textContent === focused) button.focus();
    });
    if (!spec.more.length) return;
    const details = part(one.legend, "details", "");
    details.open = open;
    part(details, "summary", "", `${spec.hidden.toLocaleString("en")} more`);
    const list = part(details, "ul", "");
    for (const [name, alone] of spec.more) part(part(list, "li", ""), "a", "", name).href = address("/explore", { line: alone, ...asked });
    if (spec.hidden > spec.more.length) part(list, "li", "", `and ${(spec.hidden - spec.more.length).toLocaleString("en")} others`);
  }
  function address(path, query = {}) {
    const zone = new URLSearchParams(location.search).get("zone");
    const text = new URLSearchParams(Object.entries({ ...query, ...(zone && { zone }) }).filter(([, value]) => value)).toString();
    return text ? `${path}?${text}` : path;
  }

  // Another range: what is drawn is stretched at once, and then drawn from finer data.
  function show(chosen) {
    asked = chosen;
    range = resolved(asked);
    loads.abort();
    loads = new AbortController();
    for (const { chart } of drawn()) chart.plot.setScale("x", { min: range[0], max: range[1] });
    pointer.remove();
    told();
    renew();
  }
  function zoom(from, to) {
    const latest = Date.now() + skew;
    const middle = (from + to) / 2, half = Math.max(to - from, SHORTEST) / 2;
    const end = Math.min(latest, middle + half);
    const chosen = { from: String(Math.round(end - 2 * half)), to: String(Math.round(end)) };
    const first = history.state?.first || asked;
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(chosen)) url.searchParams.set(name, value);
    history.pushState({ asked: chosen, first }, "", url);
    show(chosen);
  }
  function back() {
    const first = history.state?.first;
    if (!first) return;
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(first)) value ? url.searchParams.set(name, value) : url.searchParams.delete(name);
    history.pushState({ asked: first }, "", url);
    show(first);
  }
  addEventListener("popstate", (event) => { if (event.state?.asked) show(event.state.asked); });

  // The range in words where a zoom shows another than the page was made for, and in the links that keep it.
  function told() {
    const first = history.state?.first, clock = entries.find((one) => one.clock)?.clock;
    bar.hidden = !first;
    if (first && clock) zoomed.textContent = `${clock.full(range[0], false)} – ${clock.full(range[1])} (${words(range[1] - range[0])})`;
    if (clock) picked(clock, Boolean(first));
    for (const link of document.querySelectorAll("a[data-keeps-range]")) {
      const url = new URL(link.href);
      for (const name of ["from", "to"]) asked[name] ? url.searchParams.set(name, asked[name]) : url.searchParams.delete(name);
      link.href = url.href;
    }
    for (const link of document.querySelectorAll("a[data-step]")) {
      const url = new URL(location.href), by = Math.round(Number(link.dataset.step) * (range[1] - range[0]));
      url.searchParams.set("from", Math.round(range[0]) + by);
      url.searchParams.set("to", Math.round(range[1]) + by);
      link.href = url.href;
    }
    for (const field of document.querySelectorAll("input[data-keeps-range]")) field.value = asked[field.name] || "";
  }

  // The picker marks the range that is shown, and has it in its words and fields.
  const summary = document.querySelector(".ranges .pick summary"), usual = summary?.textContent;
  function picked(clock, isOther) {
    for (const link of document.querySelectorAll(".ranges nav a:not(.step)")) {
      const { from, to } = Object.fromEntries(new URL(link.href).searchParams);
      if (from === (asked.from || "now-1h") && to === (asked.to || "now")) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    if (!summary) return;
    summary.textContent = isOther ? zoomed.textContent : usual;
    if (!isOther) return;
    range.forEach((at, n) => {
      const field = document.querySelector(`.ranges .pick input[name="${["from", "to"][n]}"]`);
      field.value = clock.field(at);
    });
  }

  // How often (ms) a chart that ends now is drawn: not before the time of a pixel has passed.
  const pace = () => Math.max(POLL_S * 1000, (range[1] - range[0]) / 2000);

  // Loads what is near the window and not of the range that is shown.
  function renew() {
    clearTimeout(timer);
    if (live()) range = resolved(asked);
    const key = range.join();
    load(entries.filter((one) => one.near && one.loaded !== key));
    if (live() && !document.hidden) timer = setTimeout(renew, pace());
  }
  document.addEventListener("visibilitychange", () => { if (!document.hidden) renew(); });

  const watch = new IntersectionObserver((seen) => {
    const fresh = [];
    for (const { target, isIntersecting } of seen) {
      const one = entries.find(({ figure }) => figure === target);
      one.near = isIntersecting;
      if (isIntersecting && one.loaded !== range.join()) fresh.push(one);
    }
    if (fresh.length) load(fresh);
  }, { rootMargin: NEARBY });
  const resized = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const one = byHolder.get(target), size = one.chart?.size();
      if (one.spec && !one.chart) draw(one);
      else if (size?.width && (size.width !== one.chart.plot.width || size.height !== one.chart.plot.height)) one.chart.plot.setSize(size);
    }
  });
  for (const one of entries) { watch.observe(one.figure); resized.observe(one.holder); pointer.listen(one.holder); }

  function redraw(resolution) {
    if (resolution !== ratio) { ratio = resolution; Plot = loadUPlot(ratio); }
    for (const one of entries) draw(one);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(ratio));
  addEventListener("resize", () => { if (devicePixelRatio !== ratio && !("print" in root.dataset)) redraw(devicePixelRatio); });
  addEventListener("beforeprint", () => { root.dataset.print = ""; redraw(2); });
  addEventListener("afterprint", () => { delete root.dataset.print; redraw(devicePixelRatio); });
  told();
  if (live()) timer = setTimeout(renew, pace());
}
