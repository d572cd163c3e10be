// Variables in texts: $name, ${name}, ${name:format}, [[name]], and those of data links such as ${__data.fields.host}.
import { dateTime } from '@grafana/data';

const REFERENCE = /\$(\w+)|\[\[(\w+?)(?::(\w+))?\]\]|\$\{(\w+)((?:\.[^:}]+|\["[^"]*"\][^:}]*)*)(?::([^}]+))?\}/g;
// A group of a regular expression, and what the data source replaces in names of lines.
const OF_OTHERS = /^\$(\d|tag_|(col|m|measurement)$)/;
const list = (value) => (Array.isArray(value) ? value : [value]);
const escaped = (text) => String(text).replace(/[\\^$*+?.()|[\]{}/]/g, '\\$&');

const FORMATS = {
  raw: (value) => list(value).join(','),
  csv: (value) => list(value).join(','),
  text: (value, variable) => list(variable?.text ?? value).join(' + '),
  glob: (value) => (list(value).length > 1 ? `{${list(value).join(',')}}` : String(list(value)[0])),
  regex: (value) => (Array.isArray(value) && value.length > 1 ? `(${value.map(escaped).join('|')})` : escaped(list(value)[0])),
  pipe: (value) => list(value).join('|'),
  json: (value) => JSON.stringify(value),
  queryparam: (value, variable) => list(variable?.url ?? value).map((one) => `var-${variable?.name}=${encodeURIComponent(one)}`).join('&'),
  percentencode: (value) => encodeURIComponent(list(value).join(',')),
  uriencode: (value) => encodeURI(list(value).join(',')),
  singlequote: (value) => list(value).map((one) => `'${one}'`).join(','),
  doublequote: (value) => list(value).map((one) => `"${one}"`).join(','),
  sqlstring: (value) => list(value).map((one) => `'${String(one).replaceAll("'", "''")}'`).join(','),
};

/** Returns a function that replaces references, as Grafana's components expect it. `unknown` collects what is not known. */
export function replacer(variables, range, unknown = new Set()) {
  const ends = { __from: range.from, __to: range.to };
  const builtIn = {
    __from: (path) => instant(ends.__from, path),
    __to: (path) => instant(ends.__to, path),
    __url_time_range: () => `from=${range.from.valueOf()}&to=${range.to.valueOf()}`,
    __all_variables: () => [...variables.values()].filter((one) => !one.skipUrl).map((one) => FORMATS.queryparam(one.value, one)).join('&'),
    __interval: () => undefined, // the server replaces it
    __interval_ms: () => undefined,
    __rate_interval: () => undefined,
    timeFilter: () => undefined,
  };
  return (text, scoped = {}, format = undefined) =>
    text?.replace(REFERENCE, (whole, plain, bracketed, bracketedFormat, braced, path, bracedFormat) => {
      const name = plain ?? bracketed ?? braced;
      const wanted = bracketedFormat ?? bracedFormat ?? format;
      const form = typeof wanted === 'function' ? wanted : (FORMATS[wanted] ?? FORMATS.glob);
      const context = scoped?.__dataContext?.value;
      if (context && ['__data', '__field', '__value', '__series'].includes(name)) {
        const found = ofData(name, path, context);
        if (found !== undefined) return bracedFormat || format === 'uriencode' ? form(found) : String(found);
      } else if (name in (scoped ?? {}) && name !== '__dataContext') {
        return form(scoped[name].value, { name, value: scoped[name].value, text: scoped[name].text });
      } else if (name in builtIn) {
        return builtIn[name](path) ?? whole;
      } else if (variables.has(name)) {
        const variable = variables.get(name);
        return variable.custom !== undefined && typeof wanted !== 'string' ? variable.custom : form(variable.value, variable, text);
      }
      if (!OF_OTHERS.test(whole)) unknown.add(whole);
      return whole;
    });
}

function instant(at, path) {
  return path?.startsWith('.') ? dateTime(at).format(path.slice(1)) : String(at.valueOf());
}

function ofData(name, path, { frame, field, rowIndex, calculatedValue }) {
  const steps = [...path.matchAll(/\.([^.[\]]+)|\["([^"]*)"\]/g)].map((step) => step[1] ?? step[2]);
  if (name === '__series') return steps[0] === 'name' ? frame.name : undefined;
  if (name === '__field') return steps[0] === 'labels' ? (steps[1] ? field.labels?.[steps[1]] : JSON.stringify(field.labels)) : (field.state?.displayName ?? field.name);
  if (name === '__value') return shown(field, rowIndex, calculatedValue, steps[0]);
  const [where, which, how] = steps;
  if (where !== 'fields') return undefined;
  const column = frame.fields.find((one) => one.name === which || one.state?.displayName === which || one.config?.displayName === which) ?? frame.fields[Number(which)];
  return column && shown(column, rowIndex, undefined, how);
}

function shown(field, row, calculated, how) {
  const value = field.values[row];
  const display = calculated ?? field.display?.(value) ?? { text: String(value ?? ''), numeric: Number(value) };
  if (how === 'raw') return value;
  if (how === 'numeric') return display.numeric;
  if (how === 'time') return value;
  return `${display.prefix ?? ''}${display.text}${display.suffix ?? ''}`;
}

/** The format of variables in InfluxQL: of several values, or where it is part of a regular expression, escaped. */
export function influxql(value, variable, query) {
  if (variable?.multi || variable?.includeAll) {
    if (typeof value === 'string') return Number.isNaN(parseFloat(value)) ? escaped(value) : value;
    return `(${list(value).map(escaped).join('|')})`;
  }
  const inPattern = new RegExp(`/\\^?(.*)(\\$\\{?${variable?.name}\\}?)(.*)\\$?/`, 'm').test(query ?? '');
  if (!inPattern) return list(value).join(',');
  return Array.isArray(value) ? `(${value.map(escaped).join('|')})` : escaped(value);
}
