// The page: `plimsoll.open` draws a dashboard and returns a report of it, both as JSON.
import './page.css';
import { ThemeContext, createTheme, dateTime, locationUtil } from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { createRoot } from 'react-dom/client';
import { Dashboard } from './dashboard.jsx';
import { ask, framesOf, withMacros } from './influx.js';
import { place } from './layout.js';
import { reportOf } from './report.js';
import { influxql, replacer } from './templating.js';
import { register } from './transformations.js';
import { plots } from './uplot.js';
import { evaluate } from './variables.js';

let root = null;
register();
locationUtil.initialize({ config: { appSubUrl: '' }, getVariablesUrlParams: () => ({}), getTimeRangeForUrl: () => ({}) });
const ready = initPluginTranslations('grafana');

/** Draws a dashboard for a range (ms); `given` are variables as from a URL, `opened` opens closed rows. */
async function open({ dashboard, from, to, given = {}, opened = false, width = 1600, mode = 'light' }) {
  await ready;
  root?.unmount();
  plots.clear();
  const range = { from: dateTime(from), to: dateTime(to), raw: { from: dateTime(from), to: dateTime(to) } };
  const unknown = new Set();
  const { variables, queries } = await evaluate(dashboard, range, given);
  const replace = replacer(variables, range, unknown);
  const annotations = await annotationsOf(dashboard, range, replace, queries);
  const theme = createTheme({ colors: { mode } });
  const { placed } = place(dashboard, width - 32, opened);
  const waiting = new Map(placed.filter(({ panel }) => panel.type !== 'row').map((one) => [one.panel.id, one]));
  const loaded = new Map();
  const arrivals = new Map([...waiting.keys()].map((id) => [id, Promise.withResolvers()]));
  const everything = Promise.withResolvers();
  const scene = { range, variables, replace, annotations, everything: everything.promise, dataOf: (id) => arrivals.get(id)?.promise ?? Promise.reject(new Error(`there is no panel ${id}`)) };
  const done = (panel, data) => {
    arrivals.get(panel.id).resolve(data);
    if (loaded.set(panel.id, data).size === waiting.size) everything.resolve();
  };
  document.body.style.width = `${width}px`;
  root = createRoot(document.getElementById('root'));
  root.render(
    <ThemeContext.Provider value={theme}>
      <Dashboard {...{ dashboard, scene, width, opened, loaded: done }} />
    </ThemeContext.Provider>,
  );
  await everything.promise;
  await document.fonts.ready;
  await settled();
  return {
    uid: dashboard.uid,
    title: dashboard.title,
    range: [from, to],
    variables: Object.fromEntries([...variables].map(([name, { value, text, options, hide }]) => [name, { value, text, options, hide }])),
    queries,
    unknown: [...unknown],
    annotations,
    panels: [...waiting.values()].map((one) => reportOf(one, loaded.get(one.panel.id), scene, theme)),
  };
}

async function annotationsOf(dashboard, range, replace, queries) {
  const found = [];
  for (const { enable, name, target, iconColor } of dashboard.annotations?.list ?? []) {
    if (!enable || !target?.query) continue;
    const query = withMacros(replace(target.query, {}, influxql), range, 1_000);
    const { series, ms, error } = await ask(query);
    const [frame] = framesOf({ resultFormat: 'table' }, series);
    const column = (path) => frame?.fields.find((field) => field.name === path?.split('.').at(-1))?.values ?? [];
    const [starts, ends, titles] = [column('Time'), column(target.timeEndColumn), column(target.titleColumn)];
    queries.push({ what: `annotation ${name}`, query, ms, error, values: starts.length });
    starts.forEach((start, at) => found.push({ from: start, to: ends[at] ?? start, title: titles[at], color: '#8f3bb8', iconColor }));
  }
  return found;
}

// Plots are drawn in the frames after React's.
async function settled() {
  for (let n = 0; n < 4; n += 1) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
}

// Fields that have no value are in the report all the same.
const text = (report) => JSON.stringify(report, (_, value) => value ?? null);

window.plimsoll = { open: async (wanted) => text(await open(JSON.parse(wanted))) };
