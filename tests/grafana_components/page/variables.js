// The variables of a dashboard, with the values that Grafana gives them on opening.
import { stringToJsRegex } from '@grafana/data';
import { ask, choices, withMacros } from './influx.js';
import { choicesOf, promql } from './prometheus.js';
import { influxql, replacer } from './templating.js';

const ALL = '$__all';
const DATASOURCE = 'plimsoll-influxql';
const list = (value) => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);

/** Evaluates the variables in their order; those of later ones may depend on earlier ones. `given` is as from the URL. */
export async function evaluate(dashboard, range, given) {
  const variables = new Map();
  const queries = [];
  for (const model of dashboard.templating?.list ?? []) {
    const options = await optionsOf(model, variables, range, queries);
    variables.set(model.name, chosen(model, options, given[model.name]));
  }
  return { variables, queries };
}

async function optionsOf(model, variables, range, queries) {
  if (model.type === 'datasource') return [DATASOURCE];
  if (model.type === 'custom') return model.query.split(',').map((one) => one.trim());
  if (model.type === 'constant' || model.type === 'textbox') return [model.query];
  if (model.type !== 'query') throw new Error(`a variable of the type ${model.type} is not supported`);
  const text = typeof model.query === 'string' ? model.query : model.query.query;
  if (model.datasource?.type === 'prometheus') {
    const asked = replacer(variables, range)(text, {}, promql);
    const { values, ms, error } = await choicesOf(asked, range, `variable ${model.name}`);
    const found = sorted(matching(values, model.regex), model.sort);
    queries.push({ what: `variable ${model.name}`, query: asked, ms, error, values: found.length });
    return found;
  }
  const query = withMacros(replacer(variables, range)(text, {}, influxql), range, 1_000);
  const { series, ms, error } = await ask(query);
  const options = sorted(matching(choices(query, series), model.regex), model.sort);
  queries.push({ what: `variable ${model.name}`, query, ms, error, values: options.length });
  return options;
}

function matching(values, pattern) {
  if (!pattern) return values;
  const regex = stringToJsRegex(pattern);
  const found = values.map((value) => regex.exec(value)).filter(Boolean);
  return [...new Set(found.map((match) => match.groups?.value ?? match[1] ?? match[0]))];
}

function sorted(values, sort = 0) {
  const compare = {
    1: (a, b) => (a < b ? -1 : Number(a > b)),
    3: (a, b) => parseFloat(a) - parseFloat(b),
    5: (a, b) => a.toLowerCase().localeCompare(b.toLowerCase()),
    7: (a, b) => a.localeCompare(b, undefined, { numeric: true }),
  }[sort % 2 ? sort : sort - 1];
  if (!compare) return values;
  const up = [...values].sort(compare);
  return sort % 2 ? up : up.reverse();
}

function chosen(model, options, given) {
  const { name, multi, includeAll } = model;
  const wanted = list(given ?? model.current?.value);
  const skipUrl = Boolean(model.skipUrlSync);
  const common = { name, label: model.label, hide: model.hide, multi, includeAll, options, skipUrl };
  if (includeAll && (wanted.includes(ALL) || (wanted.length === 0 && options.length === 0))) {
    return { ...common, value: options, text: 'All', url: ALL, custom: model.allValue || undefined };
  }
  const kept = model.type === 'query' ? wanted.filter((one) => options.includes(one)) : wanted.map(String);
  const values = kept.length ? kept : options.slice(0, 1);
  const value = multi ? values : (values[0] ?? '');
  return { ...common, value, text: list(value).join(' + '), url: value };
}
