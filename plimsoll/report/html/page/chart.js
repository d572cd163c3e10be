// One chart: its samples from the page's data, drawn by uPlot with the limits, breaches and phases of the run.
const HEAD = { full: 26, small: 22, strip: 9 }; // px above the plot, for phases and breaches
const LINE = 14, TIMES = 21; // px: the least height of a mark of the axis of values, and that of the axis of times
const LEAST_NAME = 5; // letters: less of the name of a phase says nothing
const CHARACTER = 6.3; // px: the average width of one
const ALONG = [1, 0, 0.75, 0.5, 0.25]; // where along its line the label of a limit may be, the best first
const CROSSED = 1e6; // the cost of a label on another limit's line, in samples that a label covers
const DASHES = [[6, 3], [2, 2], [9, 3, 2, 3]]; // of further lines of one colour
const FAR = 8; // times the highest value: what fell so far below its limit could not be seen on a scale with both
const NEAR = 2.5; // sampling intervals: samples further from the pointer are not shown

// Decodes the samples of a line, by its number in the page's data, for uPlot; null is a gap.
function makeSamples(data) {
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
  const decodeTimes = ({ ms, wide_ms: wide, from, every, rows }) => Float64Array.from(
    ms !== undefined ? new Uint32Array(bytes(ms)) : wide !== undefined ? new Float64Array(bytes(wide)) : { length: rows },
    ms === undefined && wide === undefined ? (_, n) => data.start + from + n * every : (at) => data.start + at,
  );
  const axes = new Map();
  function axis(number) {
    if (!axes.has(number)) axes.set(number, decodeTimes(data.axes[number]));
    return axes.get(number);
  }
  return (number, factor) => {
    const stored = data.samples[number];
    const own = stored.axis === undefined;
    const xs = own ? decodeTimes(stored) : axis(stored.axis);
    if (stored.all !== undefined) return { key: stored.axis, xs, ys: new Array(xs.length).fill(stored.all * factor) };
    const raw = stored.wide ? new Float64Array(bytes(stored.wide)) : new Float32Array(bytes(stored.values));
    return { key: own ? `own ${number}` : stored.axis, xs, ys: Array.from(raw, (value) => (Number.isNaN(value) ? null : value * factor)) };
  };
}

// Puts the lines of one chart on one time axis. Where a line has no sample at another's time it is undefined, which is
// not drawn as a gap.
function aligned(Plot, lines) {
  const tables = new Map();
  lines.forEach((line, at) => {
    if (!tables.has(line.key)) tables.set(line.key, { xs: line.xs, at: [] });
    tables.get(line.key).at.push(at);
  });
  const all = [...tables.values()];
  if (!all.length) return [[]];
  if (all.length === 1) return [all[0].xs, ...lines.map((line) => line.ys)];
  const joined = Plot.join(all.map((table) => [table.xs, ...table.at.map((at) => lines[at].ys)]));
  const order = all.flatMap((table) => table.at);
  return [joined[0], ...lines.map((_, at) => joined[order.indexOf(at) + 1])];
}

// The indices of samples without neighbours: a line would have no length there, so they are drawn as dots.
function isolated(ys) {
  const there = [];
  for (let n = 0; n < ys.length; n += 1) if (ys[n] !== undefined) there.push(n);
  return there.filter((n, at) => ys[n] !== null && (ys[there[at - 1]] ?? null) === null && (ys[there[at + 1]] ?? null) === null);
}

function median(xs) {
  const steps = Float64Array.from({ length: Math.max(0, xs.length - 1) }, (_, n) => xs[n + 1] - xs[n]).sort();
  return steps[Math.floor(steps.length / 2)] || 1000;
}

// Draws a chart with the page's data, clock and samples, the theme's colours and the time range that is shown.
function makeChart(holder, { Plot, data, clock, samples, colour, view, onZoom, onReset, onPoint, ratio }) {
  const spec = data.charts[holder.dataset.chart];
  const kind = ["full", "small", "strip"].find((name) => holder.classList.contains(name));
  const lines = spec.lines.map(([number, label, look]) => ({ ...samples(number, spec.factor), label, look }));
  for (const line of lines) { line.isolated = isolated(line.ys); line.every = median(line.xs); }
  const limits = spec.limits.map(([level, text, severity]) => [level * spec.factor, text, severity || spec.severity]);
  const pale = lines.some((line) => line.look === "judged");
  const shaded = (severity) => colour(severity === "brief" ? "--brief" : `--${severity}-soft`), edge = (severity) => colour(severity === "brief" ? "--other" : `--${severity}`);
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const timeAxis = kind !== "strip" || !holder.closest("figure").matches(":has(~ figure)");
  const gutter = parseFloat(getComputedStyle(holder).getPropertyValue("--gutter"));
  const narrow = holder.clientWidth < 520;
  let beyond = []; // limits above the axis, which their labels point to
  let axis = null, unitAbove = false; // unitAbove: the unit is too long for the ticks and is written above them

  const looks = { samples: [pale ? "--pale" : "--water", pale ? 1.2 : 1.5], judged: ["--water", 2], other: ["--other", 1], usual: ["--pale", 0] };
  for (let n = 1; n <= 8; n += 1) looks[`line-${n}`] = [`--line-${n}`, 1.5];
  const drawn = lines.map((line, at) => at).reverse(); // the first lies on top
  const series = drawn.map((at) => {
    const [look, other] = lines[at].look.split(" ");
    const [name, thin] = looks[look], width = spec.strong.includes(at) ? 2.6 : thin;
    const dash = other ? DASHES[(Number(other.slice(5)) - 1) % DASHES.length] : [];
    const stroke = colour(name);
    return {
      stroke, width, dash: dash.map((n) => n * ratio), label: lines[at].label,
      points: { size: 4.5, width: 0, fill: stroke, stroke, filter: (_, __, show) => (show ? null : lines[at].isolated.length ? lines[at].isolated : null) },
    };
  });

  const usual = drawn.flatMap((at, n) => (lines[at].look === "usual" ? [n + 1] : []));
  const bands = usual.length === 2 ? [{ series: [usual[1], usual[0]], fill: colour("--hull") }] : [];

  function range(plot, low, high) {
    beyond = high > 0 && spec.spans.length && ["critical", "warning"].includes(spec.severity) ? limits.filter(([level]) => level > FAR * high) : [];
    const levels = [low, high, ...(spec.axis?.limits === false ? [] : limits.filter((one) => !beyond.includes(one))).map(([level]) => level), spec.axis?.most && spec.axis.most * spec.factor, spec.axis?.most && 0].filter((one) => one !== null && one !== undefined);
    const marks = Math.min(spec.marks, Math.max(1, Math.floor((holder.clientHeight - HEAD[kind] - (timeAxis ? TIMES : 7)) / LINE)));
    axis = levels.length ? valueAxis(Math.min(...levels), Math.max(...levels), { ...spec, marks }) : valueAxis(0, 1, { ...spec, marks });
    const widest = Math.max(...axis.ticks.map(([, text]) => text.length));
    unitAbove = spec.unit.length > SHORT_UNIT || widest * CHARACTER > gutter - 9;
    if (unitAbove) axis.ticks = axis.ticks.map(([at, text]) => [at, text.split(" ")[0]]);
    return [axis.low, headroom(axis, levels)];
  }

  // What reaches the top of the axis, as 100 % does, stays visible below its edge.
  function headroom({ low, high }, levels) {
    const room = 0.06 * (high - low);
    return Math.max(...levels, -Infinity) > high - room && high > 0 ? high + room : high;
  }

  // Behind the lines: limits; breaches, shaded and as a bar above the plot; phases as dashed lines, hatched where it is not
  // known exactly when they begin or end.
  function behind(plot) {
    const { ctx, bbox: { left, top, width, height }, valToPos } = plot;
    const inside = (x) => Math.max(left, Math.min(left + width, x));
    for (const [from, to, severity = spec.severity] of spec.spans) {
      const a = inside(valToPos(data.start + from, "x", true)), b = inside(valToPos(data.start + to, "x", true));
      if (b <= left || a >= left + width) continue;
      const wide = Math.max(b - a, 1.5 * ratio);
      ctx.fillStyle = shaded(severity);
      ctx.fillRect(a, top, wide, height);
      if (kind === "strip") continue;
      ctx.fillStyle = edge(severity);
      ctx.fillRect(a, top - 6 * ratio, Math.max(wide, 2 * ratio), 4 * ratio);
    }
    ctx.strokeStyle = ctx.fillStyle = colour("--quiet");
    ctx.lineWidth = ratio;
    ctx.font = `${12 * ratio}px ${font.slice(5)}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    for (const [from, to] of data.unsure) {
      const a = inside(valToPos(data.start + from, "x", true)), b = inside(valToPos(data.start + to, "x", true));
      if (b - a >= 3 * ratio) hatched(ctx, a, top, b - a, height);
    }
    for (const [level, , severity] of limits) {
      const y = Math.round(plot.valToPos(level, "y", true));
      if (y < top || y > top + height) continue;
      ctx.strokeStyle = edge(severity);
      ctx.lineWidth = 1.2 * ratio;
      line(ctx, [left, y], [left + width, y], [6, 4]);
    }
    ctx.strokeStyle = colour("--quiet");
    ctx.lineWidth = ratio;
    for (const [at, text] of spec.notes || []) {
      const x = inside(valToPos(data.start + at, "x", true));
      ctx.strokeStyle = ctx.fillStyle = colour("--ink");
      line(ctx, [x, top - 2 * ratio], [x, top + height], [2, 2]);
      if (kind === "strip") continue;
      const right = x > left + width / 2;
      ctx.textAlign = right ? "right" : "left";
      const room = right ? x - left : left + width - x;
      ctx.fillText(shortened(ctx, text, room - 8 * ratio), x + (right ? -4 : 4) * ratio, top - HEAD[kind] * ratio + 2 * ratio);
    }
    ctx.textAlign = "left";
    ctx.strokeStyle = ctx.fillStyle = colour("--quiet");
    for (const [name, from, to] of data.phases) {
      const a = inside(valToPos(data.start + from, "x", true)), b = inside(valToPos(data.start + to, "x", true));
      if (b <= a) continue;
      if (a > left) line(ctx, [a, top], [a, top + height], [2, 3]);
      if (kind === "strip") continue;
      line(ctx, [a, top - HEAD[kind] * ratio + ratio], [a, top - 7 * ratio]);
      const shown = shortened(ctx, name, b - a - 10 * ratio);
      if (shown === name || shown.length > LEAST_NAME) ctx.fillText(shown, a + 6 * ratio, top - HEAD[kind] * ratio + 2 * ratio);
    }
  }
  function line(ctx, from, to, dash = []) {
    ctx.setLineDash(dash.map((n) => n * ratio));
    ctx.beginPath();
    ctx.moveTo(...from);
    ctx.lineTo(...to);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  function hatched(ctx, left, top, width, height) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.globalAlpha = 0.45;
    for (let x = left - height; x < left + width; x += 7 * ratio) line(ctx, [x, top + height], [x + height, top]);
    ctx.restore();
  }
  function shortened(ctx, text, room) {
    if (ctx.measureText(text).width <= room) return text;
    for (let n = text.length - 1; n > 0; n -= 1) if (ctx.measureText(`${text.slice(0, n)}…`).width <= room) return `${text.slice(0, n)}…`;
    return "";
  }

  // In front of the lines: the labels of limits, each where it covers the fewest samples; a unit too long for the ticks.
  function inFront(plot) {
    const { ctx, bbox: { left, top, width, height } } = plot;
    if (unitAbove && kind !== "strip") {
      ctx.font = `${12 * ratio}px ${font.slice(5)}`;
      ctx.fillStyle = colour("--quiet");
      ctx.textBaseline = "top";
      const long = ctx.measureText(spec.unit).width > left - 9 * ratio, room = data.phases.length ? left + 4 * ratio : left + width;
      ctx.textAlign = long ? "left" : "right";
      ctx.fillText(long ? shortened(ctx, spec.unit, room) : spec.unit, long ? 0 : left - 9 * ratio, top - HEAD[kind] * ratio + 2 * ratio);
    }
    const lines = limits.map((one) => (beyond.includes(one) ? [top, `↑ ${one[1]}`, one[2]] : [Math.round(plot.valToPos(one[0], "y", true)), one[1], one[2]]))
      .filter(([y]) => y >= top && y <= top + height);
    const taken = [];
    for (const [y, full, severity] of lines) {
      ctx.font = `${kind === "strip" ? 400 : 600} ${12 * ratio}px ${font.slice(5)}`;
      const text = shortened(ctx, full, width - 20 * ratio);
      const wide = ctx.measureText(text).width + 10 * ratio, tall = 16 * ratio;
      const levels = [y - tall - 2 * ratio, y + 3 * ratio].filter((at) => at >= top - ratio && at + tall <= top + height + ratio);
      const places = (levels.length ? levels : [y - tall - 2 * ratio])
        .flatMap((at) => ALONG.map((share) => [left + 4 * ratio + share * (width - wide - 8 * ratio), at]))
        .filter(([x, at]) => !taken.some(([a, b, long]) => x < a + long && a < x + wide && Math.abs(b - at) < tall))
        .map(([x, at]) => [covered(plot, x, at, wide, tall) + CROSSED * lines.filter(([other]) => other > at && other < at + tall).length, x, at]);
      if (!places.length) continue; // its line is there; the caption names it
      const [, x, at] = places.reduce((a, b) => (b[0] < a[0] ? b : a));
      taken.push([x, at, wide]);
      ctx.globalAlpha = 0.8;
      ctx.fillStyle = colour("--panel");
      ctx.fillRect(x, at, wide, tall);
      ctx.globalAlpha = 1;
      ctx.fillStyle = edge(severity);
      ctx.textAlign = "left";
      ctx.textBaseline = "middle";
      ctx.fillText(text, x + 5 * ratio, at + tall / 2);
    }
  }
  function covered(plot, x, y, wide, tall) {
    const from = plot.posToIdx(x, true), to = plot.posToIdx(x + wide, true);
    const low = plot.posToVal(y + tall, "y", true), high = plot.posToVal(y, "y", true);
    let count = 0;
    for (const ys of plot.data.slice(1)) for (let n = from; n <= to; n += 1) if (ys[n] >= low && ys[n] <= high) count += 1;
    return count;
  }

  // Leaves out texts that would extend beyond the edge.
  function timeTexts(at, wide) {
    const [from, to] = view(), texts = new Map(clock.ticks(from, to, narrow ? 4 : 8));
    return at.map((one) => {
      const text = texts.get(one) ?? "";
      return timeAxis && ((to - one) / (to - from)) * wide + 6 >= 3.4 * text.split("\n")[0].length ? text : "";
    });
  }

  const size = () => ({ width: holder.clientWidth, height: holder.clientHeight });
  const quiet = { stroke: colour("--quiet"), font, grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false } };
  const plot = new Plot({
    ...size(), pxAlign: 1, focus: { alpha: 0.2 }, legend: { show: false }, padding: [HEAD[kind], 6, timeAxis ? 0 : 7, 0],
    series: [{}, ...series], bands,
    scales: { x: { time: false, range: () => view() }, y: { range } },
    axes: [
      {
        ...quiet, size: timeAxis ? (clock.severalDays ? 36 : 21) : 0, gap: 5, show: true, grid: { show: false },
        ticks: { show: timeAxis, stroke: colour("--other"), size: 4, width: 1 },
        splits: (_, __, from, to) => clock.ticks(from, to, narrow ? 4 : 8).map(([at]) => at),
        values: (u, at) => timeTexts(at, u.bbox.width / ratio),
      },
      {
        ...quiet, size: gutter, gap: 9, splits: () => axis.ticks.map(([at]) => at),
        values: () => axis.ticks.map(([, text]) => text),
      },
    ],
    cursor: {
      y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: { dblclick: () => () => { onReset(); return null; }, mouseleave: (_, __, handle) => (event) => { handle(event); onPoint(null); return null; } },
    },
    hooks: {
      drawClear: [behind], draw: [inFront],
      setSelect: [(u) => {
        if (u.select.width <= 0) return;
        const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        onZoom(from, to);
      }],
    },
  }, aligned(Plot, drawn.map((at) => lines[at])), holder);
  plot.over.addEventListener("mousemove", (event) => {
    const box = plot.over.getBoundingClientRect();
    onPoint(plot.posToVal(event.clientX - box.left, "x"));
  });

  // The value of each line at an instant, or its minimum and maximum if a pixel covers several samples.
  function values(at) {
    const [from, to] = view(), pixel = (to - from) / plot.over.clientWidth;
    return lines.filter((_, n) => plot.series[seriesOf(n)].show).map((one) => {
      const reach = Math.max(pixel, NEAR * one.every);
      const first = lower(one.xs, at - pixel), last = lower(one.xs, at + pixel);
      let found = one.ys.slice(first, last).filter((value) => value !== null);
      if (!found.length && first === last) {
        const near = [first - 1, first].filter((n) => n >= 0 && n < one.xs.length && Math.abs(one.xs[n] - at) <= reach)
          .sort((a, b) => Math.abs(one.xs[a] - at) - Math.abs(one.xs[b] - at))[0];
        found = near === undefined || one.ys[near] === null ? [] : [one.ys[near]];
      }
      if (!found.length) return [one.label, "no sample"];
      const least = number(found.reduce((a, b) => Math.min(a, b))), most = number(found.reduce((a, b) => Math.max(a, b)));
      return [one.label, `${least === most ? least : `${least} – ${most}`} ${spec.unit}`.trim()];
    });
  }
  // When the last sample in view was taken.
  function newest() {
    const [from, to] = view();
    const found = lines.map(({ xs }) => xs[lower(xs, to + 1) - 1]).filter((at) => at >= from);
    return found.length ? Math.max(...found) : to;
  }
  // Shows or hides a line, by its number; stresses one, or none.
  const seriesOf = (at) => drawn.indexOf(at) + 1;
  const toggle = (at, show) => plot.setSeries(seriesOf(at), { show });
  const stress = (at) => plot.setSeries(at === null ? null : seriesOf(at), { focus: true });
  return { holder, plot, kind, values, newest, size, toggle, stress, every: Math.min(...lines.map((one) => one.every), Infinity) };
}

// The index of the first of the ascending numbers `xs` that is not less than `value`.
function lower(xs, value) {
  let low = 0, high = xs.length;
  while (low < high) { const middle = (low + high) >> 1; if (xs[middle] < value) low = middle + 1; else high = middle; }
  return low;
}
