// One panel in its frame, with its links. It loads its data when it appears, and keeps it for the report.
import { PanelChrome, PanelContextProvider, useTheme2 } from '@grafana/ui';
import { EventBusSrv } from '@grafana/data';
import { Component, useEffect, useState } from 'react';
import { load } from './data.js';
import { Drawn } from './drawn.jsx';

const BUS = new EventBusSrv();
const CONTEXT = { eventsScope: 'global', eventBus: BUS, canAddAnnotations: () => false };

class Caught extends Component {
  state = {};

  static getDerivedStateFromError(error) {
    return { error };
  }

  componentDidCatch(error) {
    this.props.onError(error);
  }

  render() {
    return this.state.error ? <div className="message">{String(this.state.error)}</div> : this.props.children;
  }
}

export function Panel({ panel, scene, width, height, loaded }) {
  const theme = useTheme2();
  const [data, setData] = useState(null);
  useEffect(() => {
    const failed = (error) => ({ errors: [String(error.stack ?? error)], queries: [], unmatched: [], frames: [], fieldConfig: { defaults: {}, overrides: [] }, range: scene.range });
    load(panel, { ...scene, theme, width }).catch(failed).then(async (found) => {
      loaded(panel, found);
      await scene.everything; // drawn all at once, the page is laid out once
      setData(found);
    });
  }, []);
  const title = scene.replace(panel.title ?? '');
  const links = (panel.links ?? []).map((link) => ({ title: scene.replace(link.title), href: scene.replace(link.url, {}, undefined) }));
  return (
    <div className="panel" data-panel={panel.id}>
      <PanelChrome
        title={title} description={panel.description ? () => scene.replace(panel.description) : undefined} width={width} height={height}
        displayMode={panel.transparent ? 'transparent' : 'default'} padding={panel.type === 'table' || panel.type === 'timeseries' ? 'none' : 'md'}
        titleItems={links.length ? <a className="links" href={links[0].href} title={links.map((link) => link.title).join('\n')}>↗ {links.length}</a> : undefined}
        statusMessage={data?.errors.join('\n') || data?.queries.find((one) => one.error)?.error}
      >
        {(innerWidth, innerHeight) => (
          <Caught onError={(error) => data?.errors.push(String(error.stack ?? error))}>
            <PanelContextProvider value={CONTEXT}>
              {data && <Drawn {...{ panel, data, theme }} width={innerWidth} height={innerHeight} replace={scene.replace} annotations={scene.annotations} />}
            </PanelContextProvider>
          </Caught>
        )}
      </PanelChrome>
    </div>
  );
}
