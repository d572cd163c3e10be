// The data of a panel: its queries, expressions, transformations and field configuration.
import { applyFieldOverrides, cacheFieldDisplayNames, dateMath, dateTime, fieldMatchers, getFieldDisplayName } from '@grafana/data';
import { compute } from './expressions.js';
import { configOf, registryOf } from './fields.js';
import { ask, framesOf, intervalOf, withMacros } from './influx.js';
import { askRange, framesOfSeries, promql } from './prometheus.js';
import { influxql } from './templating.js';
import { transform } from './transformations.js';

/** Returns all that a panel shows, and what was found on the way: queries, errors, and what matches nothing. */
export async function load(panel, { range, replace, theme, width, dataOf }) {
  const errors = [];
  const [shifted, shiftError] = shift(panel, range, replace);
  if (shiftError) errors.push(shiftError);
  const intervalMs = intervalOf(shifted, panel.maxDataPoints ?? width, panel.interval);
  const asked = (panel.targets ?? []).filter((target) => (target.query ?? target.expr) !== undefined && (!target.hide || named(panel, target)));
  const answers = await Promise.all(
    asked.map((target) => {
      if (target.expr !== undefined) return askRange(target, replace(target.expr, {}, promql), shifted, intervalMs, `panel ${panel.id} ${target.refId}`);
      return ask(withMacros(replace(target.query, {}, influxql), shifted, intervalMs));
    }),
  );
  const answerOf = (target, { series }) => (target.expr !== undefined ? framesOfSeries(target, replace(target.legendFormat ?? ''), series) : framesOf({ ...target, alias: replace(target.alias ?? '') }, series));
  const refs = Object.fromEntries(asked.map((target, at) => [target.refId, answerOf(target, answers[at])]));
  for (const target of (panel.targets ?? []).filter((one) => one.expression !== undefined)) {
    refs[target.refId] = compute(target, refs);
  }
  for (const target of (panel.targets ?? []).filter((one) => one.panelId !== undefined)) {
    const source = await dataOf(target.panelId);
    refs[target.refId] = target.withTransforms ? source.transformed : source.answered;
  }
  const answered = (panel.targets ?? []).filter((target) => !target.hide).flatMap((target) => refs[target.refId] ?? []);
  const { frames, missing } = await transform(panel.transformations, answered, (text) => replace(text));
  const fieldConfig = configOf(panel);
  const drawn = applyFieldOverrides({ data: frames, fieldConfig, fieldConfigRegistry: registryOf(panel.type), replaceVariables: replace, theme, timeZone: 'utc' });
  cacheFieldDisplayNames(drawn);
  return {
    range: shifted,
    intervalMs,
    answered,
    transformed: frames,
    errors,
    queries: answers.map(({ query, series, ms, error }, at) => ({ what: asked[at].refId, hidden: Boolean(asked[at].hide), query, ms, error, values: valuesIn(series) })),
    unmatched: [...missing, ...overridesFor(fieldConfig, frames, panel.type)],
    fieldConfig,
    frames: drawn,
  };
}

const named = (panel, { refId }) => panel.targets.some(({ expression }) => new RegExp(`\\$\\{?${refId}\\b`).test(expression ?? ''));

const valuesIn = (series) => series.reduce((sum, { values = [] }) => sum + values.reduce((n, row) => n + row.slice(1).filter((value) => value !== null).length, 0), 0);

function shift(panel, range, replace) {
  if (!panel.timeShift) return [range, null];
  const wanted = replace(panel.timeShift);
  const [from, to] = [range.from, range.to].map((at) => dateMath.parseDateMath(`-${wanted}`, dateTime(at)));
  if (!from?.isValid() || !to?.isValid()) return [range, `invalid timeshift: ${wanted}`];
  return [{ from, to, raw: { from, to } }, null];
}

function overridesFor({ overrides }, frames, type) {
  if (!frames.length) return [];
  const copies = frames.map((frame) => ({ ...frame, fields: frame.fields.map((field) => ({ ...field, state: { ...field.state } })) }));
  copies.forEach((frame) => frame.fields.forEach((field) => getFieldDisplayName(field, frame, copies)));
  const registry = registryOf(type);
  return overrides.flatMap(({ matcher, properties }, at) => {
    const matches = fieldMatchers.getIfExists(matcher.id)?.get(matcher.options);
    const about = `override ${at + 1} (${JSON.stringify(matcher.options)})`;
    if (!matches) return [`${about}: no such matcher: ${matcher.id}`];
    const unknown = properties.filter((one) => !registry.getIfExists(one.id)).map((one) => `${about}: no such property: ${one.id}`);
    const found = copies.some((frame) => frame.fields.some((field) => matches(field, frame, copies)));
    return found ? unknown : [...unknown, `${about}: no field matches`];
  });
}
