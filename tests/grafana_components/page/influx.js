// Queries to InfluxDB, and data frames of their answers as Grafana's data source makes them.
import { FieldType, rangeUtil, toDataFrame } from '@grafana/data';

const NAMES_OF_VALUES = ['SHOW TAG VALUES', 'SHOW SERIES', 'SHOW MEASUREMENTS', 'SHOW TAG KEYS'];

let request = null; // the one that is still to be sent

/** Asks one statement; returns its series, the time it took, and what InfluxDB has against it. */
export async function ask(query) {
  const begun = performance.now();
  request ??= soon();
  const at = request.statements.push(query) - 1;
  const { results = [], error } = await request.answer;
  const result = results[at] ?? {};
  return { query, series: result.series ?? [], ms: performance.now() - begun, error: error ?? result.error };
}

// What the panels of a dashboard ask at once is one request.
function soon() {
  const statements = [];
  const answer = new Promise((resolve) => setTimeout(resolve)).then(async () => {
    request = null;
    const response = await fetch('/query', { method: 'POST', body: statements.join(';\n') });
    const answered = await response.json();
    return response.ok ? answered : { error: answered.error ?? `status ${response.status}` };
  });
  return { statements, answer };
}

/** Replaces the macros that Grafana's server replaces. */
export function withMacros(query, range, intervalMs) {
  return query
    .replaceAll('$timeFilter', `time >= ${range.from.valueOf()}ms and time <= ${range.to.valueOf()}ms`)
    .replaceAll('$__interval_ms', String(intervalMs))
    .replaceAll('$__interval', `${intervalMs}ms`)
    .replaceAll('$interval', `${intervalMs}ms`);
}

/** The interval that Grafana chooses for a panel. */
export function intervalOf(range, points, least) {
  return rangeUtil.calculateInterval(range, points, least || '1ms').intervalMs;
}

/** Data frames: for time series one for each series and column, for a table one for all. */
export function framesOf(target, series) {
  if (series.length === 0) return [];
  return target.resultFormat === 'table' ? [table(target, series)] : series.flatMap((one) => columns(target, one));
}

function columns(target, { name, tags, columns: [first, ...rest], values }) {
  if (first !== 'time') return [table(target, [{ name, tags, columns: [first, ...rest], values }])];
  const times = values.map((row) => row[0]);
  return rest.map((column, at) => {
    const shown = alias(target.alias, name, column, tags);
    return toDataFrame({
      name: shown,
      refId: target.refId,
      meta: { type: 'timeseries-multi' },
      fields: [
        { name: 'Time', type: FieldType.time, values: times, config: {} },
        { name: 'Value', labels: tags, config: { displayNameFromDS: shown }, ...typed(values.map((row) => row[at + 1])) },
      ],
    });
  });
}

function table(target, series) {
  const { name, tags, columns } = series[0];
  const rows = series.flatMap((one) => one.values.map((row) => ({ row, tags: one.tags })));
  const value = (column, at) => ({ name: column, config: {}, ...typed(rows.map(({ row }) => row[at])) });
  const timed = columns[0] === 'time';
  return toDataFrame({
    name,
    refId: target.refId,
    fields: [
      ...(timed ? [{ name: 'Time', type: FieldType.time, config: {}, values: rows.map(({ row }) => row[0]) }] : []),
      ...Object.keys(tags ?? {}).map((tag) => ({ name: tag, type: FieldType.string, config: {}, values: rows.map((row) => row.tags[tag]) })),
      ...columns.map((column, at) => (timed && at === 0 ? null : value(column, at))).filter(Boolean),
    ],
  });
}

function typed(values) {
  const first = values.find((value) => value !== null);
  const type = typeof first === 'string' ? FieldType.string : typeof first === 'boolean' ? FieldType.boolean : FieldType.number;
  return { type, values };
}

function alias(pattern, measurement, column, tags = {}) {
  if (!pattern) {
    const labels = Object.entries(tags).map(([tag, value]) => `${tag}: ${value}`);
    return `${measurement}.${column}${labels.length ? ` { ${labels.join(' ')} }` : ''}`;
  }
  return pattern.replace(/\$\s*(\w+)|\[\[([\s\S]+?)\]\]/g, (whole, plain, bracketed) => {
    const name = plain ?? bracketed;
    if (name === 'm' || name === 'measurement') return measurement;
    if (name === 'col') return column;
    if (name.startsWith('tag_')) return tags[name.slice(4)] ?? whole;
    return whole;
  });
}

/** The values that a query of a variable offers. */
export function choices(query, series) {
  const second = NAMES_OF_VALUES.some((start) => query.trim().toUpperCase().startsWith(start)) || /^\s*select/i.test(query);
  const found = series.flatMap(({ values = [] }) => values.map((row) => (second && row.length > 1 ? row[1] : row[0])));
  return [...new Set(found.filter((value) => value !== null).map(String))];
}
