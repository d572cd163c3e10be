// What the components drew, in words and numbers: fields as they were given to them, plots, legends and cells as they are on the page.
import { FieldType, formattedValueToString, getFieldDisplayName, getFieldSeriesColor } from '@grafana/data';
import { drawable, valuesOf, wantsData } from './drawn.jsx';
import { plots } from './uplot.js';

const MOST_ROWS = 500;

export function reportOf({ panel, row, ...box }, data, scene, theme) {
  const element = document.querySelector(`[data-panel="${panel.id}"]`);
  const shown = drawable(panel, data.frames);
  const all = data.frames;
  return {
    id: panel.id,
    title: scene.replace(panel.title ?? ''),
    type: panel.type,
    row: row?.title,
    collapsed: Boolean(row?.collapsed),
    box,
    range: [data.range.from.valueOf(), data.range.to.valueOf()],
    queries: data.queries,
    errors: data.errors,
    unmatched: data.unmatched,
    empty: wantsData(panel) && shown.length === 0,
    message: element.querySelector('.message')?.textContent,
    frames: (panel.type === 'table' ? all : shown).map((frame) => ({ name: frame.name, refId: frame.refId, length: frame.length, fields: frame.fields.map((field) => fieldOf(field, frame, all, theme)) })),
    drawnFrame: panel.type === 'table' ? (panel.options?.frameIndex ?? 0) : undefined,
    links: (panel.links ?? []).map((link) => ({ title: scene.replace(link.title), href: scene.replace(link.url) })),
    plots: [...plots].filter((plot) => element.contains(plot.root)).map(plotOf),
    legend: [...element.querySelectorAll('tbody tr')].map((one) => [...one.querySelectorAll('td')].map((cell) => cell.textContent)),
    values: ['stat', 'bargauge'].includes(panel.type) && shown.length ? valuesOf(panel, data, scene.replace, theme).map(({ display }) => ({ text: formattedValueToString(display), title: display.title, color: theme.visualization.getColorByName(display.color ?? 'text') })) : [],
    table: panel.type === 'table' ? tableOf(element) : undefined,
    texts: textsIn(element),
  };
}

function fieldOf(field, frame, all, theme) {
  const values = field.values.filter((value) => value !== null && value !== undefined);
  const numeric = field.type === FieldType.number ? values.filter(Number.isFinite) : [];
  const { unit, noValue, thresholds, custom = {}, color } = field.config;
  return {
    name: getFieldDisplayName(field, frame, all),
    type: field.type,
    labels: field.labels,
    unit,
    noValue,
    values: values.length,
    nulls: field.values.length - values.length,
    min: numeric.length ? numeric.reduce((a, b) => Math.min(a, b)) : undefined,
    max: numeric.length ? numeric.reduce((a, b) => Math.max(a, b)) : undefined,
    last: values.length && field.type !== FieldType.frame ? formattedValueToString(field.display(values.at(-1))) : undefined,
    steps: thresholds?.steps.map(({ value, color: name }) => ({ value: Number.isFinite(value) ? value : null, color: theme.visualization.getColorByName(name) })),
    lines: custom.thresholdsStyle?.mode,
    cell: custom.cellOptions?.type,
    colorMode: color?.mode,
    color: field.type === FieldType.number ? getFieldSeriesColor(field, theme).color : undefined,
    links: field.getLinks?.({ valueRowIndex: 0 }).map(({ href, title }) => ({ href, title })) ?? [],
    trends: field.type === FieldType.frame ? field.values.slice(0, MOST_ROWS).map(trendOf) : undefined,
  };
}

function trendOf(frame) {
  const values = frame?.fields.find((field) => field.type === FieldType.number)?.values;
  return values ? { values: values.length, nulls: values.filter((value) => !Number.isFinite(value)).length, zeros: values.filter((value) => value === 0).length } : null;
}

function plotOf(plot) {
  const scales = Object.entries(plot.scales).map(([key, { min, max }]) => [key, { min, max }]);
  return {
    scales: Object.fromEntries(scales),
    ticks: plot.axes.slice(1).flatMap((axis) => axis._values ?? []).filter((text) => typeof text === 'string'),
    inCell: Boolean(plot.root.closest('[role="gridcell"]')),
    series: plot.series.slice(1).map((series, at) => {
      const values = plot.data[at + 1];
      return { stroke: series._stroke ?? undefined, values: values.filter((value) => value !== null && value !== undefined).length, zeros: values.filter((value) => value === 0).length };
    }),
  };
}

function tableOf(element) {
  const text = (cell) => cell.textContent.trim();
  const rows = [...element.querySelectorAll('[role="row"]')];
  const columns = [...element.querySelectorAll('[role="columnheader"]')];
  return {
    columns: columns.map((cell) => ({ text: text(cell), cut: isCut(cell) })),
    rows: rows.slice(0, MOST_ROWS).map((row) => [...row.querySelectorAll('[role="gridcell"]')].map(cellOf)).filter((cells) => cells.length),
  };
}

function cellOf(cell) {
  const inner = [...cell.querySelectorAll('*')].findLast((one) => one.childElementCount === 0 && one.textContent.trim()) ?? cell;
  return {
    text: cell.textContent.trim(),
    cut: isCut(cell),
    plot: Boolean(cell.querySelector('.uplot')),
    clickable: Boolean(cell.querySelector('a')),
    color: getComputedStyle(inner).color,
    background: getComputedStyle(cell).backgroundColor,
  };
}

const isCut = (cell) => [cell, ...cell.querySelectorAll('*')].some((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).overflowX !== 'visible');

// Text as it is on the page, element by element, since double spaces matter.
function textsIn(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode() && found.length < 5_000) if (walker.currentNode.data.trim()) found.push(walker.currentNode.data);
  return [...new Set(found)];
}
