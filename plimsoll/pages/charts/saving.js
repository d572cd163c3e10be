// Saves what a chart shows: its samples as CSV, or its picture as PNG.
const SAFE = /[^\p{L}\p{N}._-]+/gu;
const FORMULA = /^[=+\-@\t\r]/; // a spreadsheet would calculate such a name

export function saveCsv({ spec, samples, chart }) {
  const [from, to] = [chart.plot.scales.x.min, chart.plot.scales.x.max];
  const lines = spec.lines.map(([number, label]) => ({ label, ...samples(number, spec.factor) }));
  const rows = new Map();
  lines.forEach(({ xs, ys }, at) => xs.forEach((x, n) => {
    if (x < from || x > to || ys[n] === null || ys[n] === undefined) return;
    if (!rows.has(x)) rows.set(x, new Array(lines.length).fill(""));
    rows.get(x)[at] = ys[n];
  }));
  const head = ["time (UTC)", ...lines.map(({ label }) => `${spec.title}, ${label} (${spec.unit})`)].map(quoted).join(",");
  const body = [...rows].sort(([a], [b]) => a - b).map(([x, values]) => [new Date(x).toISOString(), ...values].join(","));
  save(new Blob([[head, ...body, ""].join("\r\n")], { type: "text/csv" }), `${spec.title}.csv`);
}

export function savePng({ spec, chart, clock, holder }) {
  const source = holder.querySelector("canvas"), ratio = source.width / holder.clientWidth;
  const style = getComputedStyle(holder.closest(".live-chart")), room = 46 * ratio;
  const made = document.createElement("canvas");
  Object.assign(made, { width: source.width, height: source.height + room });
  const ctx = made.getContext("2d");
  ctx.fillStyle = style.backgroundColor;
  ctx.fillRect(0, 0, made.width, made.height);
  ctx.fillStyle = style.color;
  ctx.font = `600 ${14 * ratio}px ${style.fontFamily}`;
  ctx.fillText(spec.title, 8 * ratio, 18 * ratio);
  ctx.font = `${12 * ratio}px ${style.fontFamily}`;
  const { min, max } = chart.plot.scales.x;
  const names = spec.lines.map(([, label]) => label).join(", ");
  ctx.fillText(`${clock.full(min, false)} – ${clock.full(max)} · ${names}`, 8 * ratio, 36 * ratio, made.width - 16 * ratio);
  ctx.drawImage(source, 0, room);
  made.toBlob((blob) => save(blob, `${spec.title}.png`));
}

function quoted(text) {
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(SAFE, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
