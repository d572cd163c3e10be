// Queries to a Prometheus data source, and data frames of their answers as Grafana's data source makes them.
import { FieldType, rangeUtil, toDataFrame } from '@grafana/data';

const LABEL_VALUES = /^label_values\(([\s\S]+),\s*(\w+)\)$/;
const QUERY_RESULT = /^query_result\(([\s\S]+)\)$/;
const list = (value) => (Array.isArray(value) ? value : [value]);
const special = (text) => String(text).replace(/\\/g, '\\\\\\\\').replace(/[$^*{}[\]'+?.()|]/g, '\\\\$&');
const regular = (text) => String(text).replace(/\\/g, '\\\\').replace(/'/g, "\\\\'");

/** The format of variables in PromQL: of several values, or where there is a choice of all, escaped as a pattern. */
export function promql(value, variable) {
  if (!variable?.multi && !variable?.includeAll) return regular(list(value).join(','));
  const found = list(value).map(special);
  return found.length === 1 ? found[0] : `(${found.join('|')})`;
}

async function call(path, given, what) {
  const begun = performance.now();
  const response = await fetch(`/prometheus?what=${encodeURIComponent(what)}`, { method: 'POST', body: JSON.stringify([path, given]) });
  const answer = await response.json();
  return { data: answer.data, ms: performance.now() - begun, error: answer.error ?? (answer.status === 'success' ? undefined : `status ${answer.status}`) };
}

/** Sends the query of a target for a range; its steps are multiples of the interval, as Grafana's server has them. */
export async function askRange(target, expr, range, intervalMs, what) {
  const least = rangeUtil.intervalToMs(target.interval || '15s');
  const step = Math.max(intervalMs, least);
  const query = expr.replaceAll('$__rate_interval', `${Math.max(step + least, 4 * least)}ms`).replaceAll('$__interval', `${step}ms`);
  const [start, end] = [range.from, range.to].map((at) => (Math.floor(at.valueOf() / step) * step) / 1000);
  const { data, ms, error } = await call('query_range', { query, start, end, step: step / 1000 }, what);
  return { query, series: data?.result ?? [], ms, error };
}

/** A data frame for each series, named by the legend. */
export function framesOfSeries(target, legend, series) {
  return series.map(({ metric, values }) => {
    const shown = legend.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label) => metric[label] ?? '');
    return toDataFrame({
      name: shown,
      refId: target.refId,
      meta: { type: 'timeseries-multi' },
      fields: [
        { name: 'Time', type: FieldType.time, values: values.map(([at]) => at * 1000), config: {} },
        { name: 'Value', type: FieldType.number, labels: metric, config: { displayNameFromDS: shown }, values: values.map((row) => Number(row[1])) },
      ],
    });
  });
}

/** The values that a query of a variable offers. */
export async function choicesOf(query, range, what) {
  const [start, end] = [range.from, range.to].map((at) => at.valueOf() / 1000);
  const [, selector, label] = LABEL_VALUES.exec(query) ?? [];
  if (selector) {
    const { data, ...rest } = await call(`label/${label}/values`, { 'match[]': selector, start, end }, what);
    return { values: data ?? [], ...rest };
  }
  const [, expr] = QUERY_RESULT.exec(query) ?? [];
  if (!expr) return { values: [], ms: 0, error: `this query of a variable is not supported: ${query}` };
  const { data, ...rest } = await call('query', { query: expr, time: end }, what);
  const text = ({ metric, value }) => `{${Object.entries(metric).map(([name, one]) => `${name}=${JSON.stringify(one)}`).join(', ')}} ${value[1]} ${value[0] * 1000}`;
  return { values: (data?.result ?? []).map(text), ...rest };
}
