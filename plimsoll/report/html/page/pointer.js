// Charts that show the same instant: a line in each and the values there, moved by the pointer or by keys.
// `chartOf` gives the chart of an element, `peers` the elements that show its instant, `view` the range of time,
// `zoom(from, to)` changes that, and `back` undoes it.
function makePointer({ chartOf, peers, clock, view, zoom, back }) {
  let cursor = null;

  function point(holder, at) {
    for (const other of peers(holder)) {
      clear(other);
      if (at !== null) read(chartOf(other), at);
    }
    cursor = at === null ? null : { holder, at };
  }
  function clear(holder) {
    for (const old of holder.querySelectorAll(".cursor, .reading")) old.remove();
  }
  function element(parent, name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }
  function read({ holder, plot, kind, values }, at) {
    const x = plot.valToPos(at, "x"), wide = plot.over.clientWidth;
    if (x < 0 || x > wide) return;
    element(plot.over, "div", "cursor").style.left = `${x}px`;
    const reading = element(plot.over, "div", "reading");
    if (kind !== "strip") element(reading, "b", "", clock().full(at));
    for (const [label, value] of values(at)) {
      const row = element(reading, "div", "");
      element(row, "span", "", label);
      element(row, "b", "", value);
    }
    const least = -plot.over.offsetLeft, most = holder.clientWidth - plot.over.offsetLeft - reading.offsetWidth;
    const beside = x < wide / 2 ? x + 9 : x - 9 - reading.offsetWidth;
    reading.style.left = `${Math.max(least, Math.min(most, beside))}px`;
  }

  // What keys lead to is also said, to those who cannot see it.
  let spoken = null;
  function say({ values }, at) {
    if (!spoken) {
      spoken = element(document.body, "div", "spoken");
      spoken.setAttribute("aria-live", "polite");
    }
    spoken.textContent = [clock().full(at), ...values(at).map(([label, value]) => `${label} ${value}`)].join(", ");
  }

  // The first arrow shows the newest sample, others move the instant; + and - zoom there, Escape removes it, then undoes the zoom.
  function listen(holder) {
    holder.addEventListener("blur", () => chartOf(holder) && point(holder, null));
    holder.addEventListener("keydown", (event) => {
      const chart = chartOf(holder), [from, to] = view();
      if (!chart || event.ctrlKey || event.altKey || event.metaKey) return;
      const known = cursor && cursor.holder === holder, at = known ? cursor.at : (from + to) / 2;
      const step = Math.max(chart.every, (to - from) / chart.plot.over.clientWidth);
      const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -20, PageUp: 20 }[event.key];
      if (by) {
        const next = known ? Math.max(from, Math.min(to, at + by * step)) : chart.newest();
        point(holder, next);
        say(chart, next);
      }
      else if (event.key === "+") zoom(at - (to - from) / 4, at + (to - from) / 4);
      else if (event.key === "-") zoom(at - (to - from), at + (to - from));
      else if (event.key === "Escape") { if (cursor) point(holder, null); else back(); }
      else return;
      event.preventDefault();
    });
  }
  const remove = () => { if (cursor) point(cursor.holder, null); };
  const again = () => { if (cursor) point(cursor.holder, cursor.at); };
  return { point, listen, clear, remove, again };
}
