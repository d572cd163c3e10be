// A dashboard: its variables, its range and its panels.
import { GlobalStyles, Icon } from '@grafana/ui';
import { dateTimeFormat } from '@grafana/data';
import { place } from './layout.js';
import { Panel } from './panel.jsx';

const PADDING = 16;

export function Dashboard({ dashboard, scene, width, opened, loaded }) {
  const { placed, height } = place(dashboard, width - 2 * PADDING, opened);
  return (
    <div style={{ padding: PADDING }}>
      <GlobalStyles />
      <header>
        <h1>{dashboard.title}</h1>
        {[...scene.variables.values()].filter((one) => one.hide !== 2).map((one) => (
          <span key={one.name} className="variable"><b>{one.label ?? one.name}</b>{String(one.text)}</span>
        ))}
        <span className="range">{[scene.range.from, scene.range.to].map((at) => dateTimeFormat(at, { timeZone: 'utc' })).join(' to ')} UTC</span>
      </header>
      <main style={{ position: 'relative', height }}>
        {placed.map(({ panel, ...box }) => (
          <div key={panel.id} style={{ position: 'absolute', left: box.left, top: box.top, width: box.width, height: box.height }}>
            {panel.type === 'row'
              ? <div className="row" data-row={panel.id}><Icon name={panel.open ? 'angle-down' : 'angle-right'} /> {scene.replace(panel.title)}</div>
              : <Panel panel={panel} scene={scene} width={box.width} height={box.height} loaded={loaded} />}
          </div>
        ))}
      </main>
    </div>
  );
}
