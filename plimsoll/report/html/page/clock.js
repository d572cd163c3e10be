// The log's clock, formats of numbers and durations, and the ticks of axes.
const two = (n) => String(n).padStart(2, "0");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MINUTE = 60, HOUR = 3600, DAY = 86400;
const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 20, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR), ...[1, 2, 7, 14, 28, 91, 182, 364].map((n) => n * DAY),
];
const A_MONDAY = 4 * DAY * 1000; // 1970-01-05
const LEAST_SPAN = 0.04; // of its highest value an axis shows at least this share: less is noise
const FAR_FROM_ZERO = 0.75; // an axis omits 0 if all its values are above this share of the highest
const SHORT_UNIT = 4;

// Times are UTC in ms. A moment is local time as the log's clock shows it, in ms without a zone.
function makeClock(data) {
  const ahead = (at) => data.clock.reduce((found, [from, minutes]) => (at >= from ? minutes : found), data.clock[0][1]) * 60000;
  const moment = (at) => at + ahead(at);
  const date = (m) => { const d = new Date(m); return `${d.getUTCFullYear()}-${two(d.getUTCMonth() + 1)}-${two(d.getUTCDate())}`; };
  const shortDate = (m) => { const d = new Date(m); return `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]}`; };
  const time = (m) => { const d = new Date(m); return `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`; };
  const severalDays = !data.elapsed && date(moment(data.start)) !== date(moment(data.start + data.span));

  // A time as text: with its date where the run spans several days; of a clock that shows time elapsed, how long.
  const text = (at) => (data.elapsed ? words(at) : severalDays ? `${date(moment(at))} ${time(moment(at))}` : time(moment(at)));

  // A time where its day is not known otherwise: with its date unless it is today, and the zone if that is given.
  const full = (at, named = true) => {
    if (data.elapsed || !data.zone) return text(at);
    const today = date(moment(at)) === date(moment(Date.now()));
    return `${today && !severalDays ? "" : `${date(moment(at))} `}${time(moment(at))}${named ? ` ${data.zone}` : ""}`;
  };
  // A time as a field of a form has it.
  const field = (at) => `${date(moment(at))}T${time(moment(at))}`;

  // The times at which the clock shows a moment: none in the hour skipped in spring, two in the one repeated in autumn.
  const instants = (m) => [...new Set(data.clock.map(([, minutes]) => m - minutes * 60000))]
    .filter((at) => moment(at) === m).sort((a, b) => a - b);

  // Ticks at round moments between two times, about `most` of them: [time, text], the first of each day with its date.
  function ticks(from, to, most) {
    const rough = (to - from) / 1000 / most;
    const step = 1000 * (TIME_STEPS.find((s) => s >= rough) || Math.ceil(rough / DAY) * DAY);
    const origin = step >= DAY * 1000 && !data.elapsed ? A_MONDAY : 0;
    const round = [], found = [];
    for (let m = Math.floor((moment(from) - HOUR * 1000 - origin) / step) * step + origin; m <= moment(to) + HOUR * 1000; m += step) {
      for (const at of instants(m)) if (at >= from && at <= to) round.push([at, m]);
    }
    let day = "";
    for (const [at, m] of round.sort((a, b) => a[0] - b[0])) {
      const fresh = severalDays && date(m) !== day;
      day = date(m);
      if (data.elapsed) found.push([at, at ? words(at) : "0"]);
      else if (step >= DAY * 1000) found.push([at, shortDate(m)]);
      else found.push([at, (step < MINUTE * 1000 ? time(m) : time(m).slice(0, 5)) + (fresh ? `\n${shortDate(m)}` : "")]);
    }
    return found;
  }
  return { text, full, field, ticks, severalDays };
}

// Three significant digits, or all digits of a whole number: 1,064; 78.2; 0.0211.
function number(value) {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString("en", digits);
}

function words(ms) {
  const s = Math.round(ms / 1000);
  const parts = [[Math.floor(s / DAY), "d"], [Math.floor(s / HOUR) % 24, "h"], [Math.floor(s / MINUTE) % 60, "min"], [s % 60, "s"]];
  const first = parts.findIndex(([n]) => n);
  return first < 0 ? `${Math.round(ms)} ms` : parts.slice(first, first + 2).filter(([n]) => n).map(([n, unit]) => `${n} ${unit}`).join(" ");
}

// An axis that includes both values, with about `marks` round ticks; it starts at 0 unless they are far from it.
function valueAxis(lowest, highest, { unit, binary, marks }) {
  let low = Math.min(lowest, highest), high = Math.max(lowest, highest);
  if (low >= 0 && low < FAR_FROM_ZERO * high) low = 0;
  else if (high <= 0 && high > FAR_FROM_ZERO * low) high = 0;
  const least = LEAST_SPAN * Math.max(Math.abs(low), Math.abs(high));
  if (high > low && high - low < least) [low, high] = [low - (least - high + low) / 2, high + (least - high + low) / 2];
  if (high <= low) { low = Math.min(low, 0); high = Math.max(high, 0) || (low === 0 ? 1 : 0); }
  const rough = (high - low) / marks, power = 10 ** Math.floor(Math.log10(rough));
  const step = binary && rough >= 1
    ? 2 ** Math.ceil(Math.log2(rough) - 1e-9)
    : [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough * (1 - 1e-9)) || 10 * power;
  const near = (n) => 1e-9 + 2e-7 * Math.abs(n); // tolerates the rounding of 32-bit floats
  const first = Math.floor(low / step + near(low / step));
  const last = Math.max(Math.ceil(high / step - near(high / step)), first + 1);
  let decimals = 0;
  while (decimals < 12 && Math.abs(Number(step.toFixed(decimals)) - step) > 1e-9 * step) decimals += 1;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const behind = unit && unit.length <= SHORT_UNIT ? ` ${unit}` : "";
  const ticks = [];
  for (let n = first; n <= last; n += 1) ticks.push([n * step, n ? (n * step).toLocaleString("en", digits) + behind : "0"]);
  return { low: first * step, high: last * step, ticks };
}
