// The transformations of a panel, one after the other, and what each of them found nothing for.
import {
  FieldType, getFieldDisplayName, getFrameMatchers, reduceField, standardTransformers, standardTransformersRegistry,
  stringToJsRegex, toDataFrame, transformDataFrame,
} from '@grafana/data';
import { lastValueFrom, map } from 'rxjs';

/** Registers the transformations of @grafana/data, and two that Grafana itself has. */
export function register() {
  const all = [...new Set(Object.values(standardTransformers)), timeSeriesTable, extractFields];
  standardTransformersRegistry.setInit(() =>
    all.map((one) => ({ id: one.id, aliasIds: one.aliasIds, name: one.name ?? one.id, transformation: () => Promise.resolve(one) })),
  );
}

/** Returns the transformed frames, and in words what the transformations name and the frames do not have. */
export async function transform(transformations, frames, interpolate) {
  const missing = [];
  for (const [at, one] of (transformations ?? []).entries()) {
    if (one.disabled) continue;
    if (frames.length) missing.push(...lacking(one, named(frames)).map((what) => `${at + 1} ${one.id}: ${what}`));
    frames = await lastValueFrom(transformDataFrame([one], frames, { interpolate }));
  }
  return { frames, missing };
}

// Display names are kept in the state of a field, so they are asked of copies.
function named(frames) {
  const copies = frames.map((frame) => ({ ...frame, fields: frame.fields.map((field) => ({ ...field, state: { ...field.state } })) }));
  return copies.map((frame) => ({ frame, names: frame.fields.map((field) => getFieldDisplayName(field, frame, copies)) }));
}

function lacking({ id, options = {}, filter }, all) {
  let taken = all;
  if (filter?.options) {
    const matches = getFrameMatchers(filter);
    taken = all.filter(({ frame }) => matches(frame));
    if (!taken.length) return [`no frame matches ${filter.options}`];
  }
  const known = new Set(taken.flatMap(({ names, frame }) => [...names, ...frame.fields.map((field) => field.name)]));
  const without = (names) => [...new Set(names)].filter((name) => name && !known.has(name)).map((name) => `no field ${name}`);
  switch (id) {
    case 'renameByRegex':
      return [...known].some((name) => stringToJsRegex(options.regex).test(name)) ? [] : [`no field matches ${options.regex}`];
    case 'organize':
      return without(Object.keys({ ...options.excludeByName, ...options.indexByName, ...options.renameByName }));
    case 'groupBy':
      return without(Object.keys(options.fields ?? {}));
    case 'joinByField':
      return without([options.byField]);
    case 'extractFields':
      return without([options.source]);
    case 'convertFieldType':
      return without((options.conversions ?? []).map((one) => one.targetField));
    case 'sortBy':
      return without((options.sort ?? []).map((one) => one.field));
    case 'filterFieldsByName':
      return without(options.include?.names ?? []);
    case 'calculateField': {
      const { left, right } = options.binary ?? {};
      const operands = [left, right].map((side) => side?.matcher?.options ?? side).filter((side) => typeof side === 'string');
      return options.mode === 'binary' ? without(operands.filter((side) => Number.isNaN(Number(side)))) : without(options.reduce?.include ?? []);
    }
    default:
      return [];
  }
}

const LAST = 'lastNotNull';
const operator = (transformer) => (options, context) => (source) => source.pipe(map((frames) => transformer(frames, options, context)));

/** A table for each query: a row for each series with its labels, and the series itself with its last value. */
const timeSeriesTable = {
  id: 'timeSeriesTable',
  name: 'Time series to table',
  operator: operator((frames, options) => {
    const series = frames.filter((frame) => frame.fields.some(isTime) && frame.fields.some(isNumber));
    const queries = [...new Set(series.map((frame) => frame.refId ?? ''))];
    if (!queries.length) return frames;
    return queries.map((refId) => {
      const lines = series.filter((frame) => (frame.refId ?? '') === refId).flatMap((frame) => frame.fields.filter(isNumber).map((field) => ({ frame, field })));
      const labels = [...new Set(lines.flatMap(({ field }) => Object.keys(field.labels ?? {})))];
      const reducer = options[refId]?.stat ?? LAST;
      const trends = lines.map(({ frame, field }) => ({
        ...frame,
        fields: [frame.fields.find(isTime), field],
        value: reduceField({ field: { ...field, state: {} }, reducers: [reducer] })[reducer] ?? null,
      }));
      return toDataFrame({
        refId,
        fields: [
          ...labels.map((label) => ({ name: label, type: FieldType.string, config: {}, values: lines.map(({ field }) => field.labels?.[label]) })),
          { name: queries.length > 1 || refId ? `Trend #${refId}` : 'Trend', type: FieldType.frame, config: {}, values: trends },
        ],
      });
    });
  }),
};

const isTime = (field) => field.type === FieldType.time;
const isNumber = (field) => field.type === FieldType.number;

/** Columns from the named groups of a pattern, or from the keys of JSON. */
const extractFields = {
  id: 'extractFields',
  name: 'Extract fields',
  operator: operator((frames, options) =>
    frames.map((frame) => {
      const source = frame.fields.find((field) => getFieldDisplayName(field, frame) === options.source || field.name === options.source);
      if (!source) return frame;
      const found = source.values.map(partsOf(options));
      const names = [...new Set(found.flatMap((parts) => Object.keys(parts)))];
      const added = names.map((name) => {
        const values = found.map((parts) => parts[name]);
        const type = values.every((value) => value === undefined || typeof value === 'number') ? FieldType.number : FieldType.string;
        return { name, type, config: {}, values };
      });
      return { ...frame, fields: [...(options.replace ? [] : frame.fields), ...added] };
    }),
  ),
};

function partsOf({ format, regExp }) {
  if (format === 'regexp') return (value) => ({ ...stringToJsRegex(regExp).exec(String(value ?? ''))?.groups });
  if (format === 'json') return (value) => (typeof value === 'string' ? JSON.parse(value) : (value ?? {}));
  throw new Error(`extractFields of the format ${format} is not supported`);
}
