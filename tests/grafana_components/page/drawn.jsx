// A panel as Grafana's components draw it.
import { FieldType, VizOrientation, getFieldDisplayValues, renderMarkdown } from '@grafana/data';
import { BarGauge, BigValue, TimeSeries, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { useLayoutEffect } from 'react';

const isNumber = (field) => field.type === FieldType.number;
const NOT_HERE = { alertlist: 'Alerts are evaluated by Grafana’s server.', annolist: 'Annotations are listed by Grafana’s server.' };

/** The frames that a panel draws; none where it says that there is no data. */
export function drawable(panel, frames) {
  if (panel.type === 'timeseries') return frames.filter((one) => one.length && one.fields.some((field) => field.type === FieldType.time) && one.fields.some(isNumber));
  if (panel.type === 'table') return frames.filter((one) => one.length && one.fields.length);
  return frames.filter((one) => one.length);
}

export const wantsData = (panel) => !['text', 'row', ...Object.keys(NOT_HERE)].includes(panel.type);

export function Drawn({ panel, data, width, height, replace, theme, annotations }) {
  if (panel.type === 'text') return <div className="markdown-html" dangerouslySetInnerHTML={{ __html: renderMarkdown(replace(panel.options.content)) }} />;
  if (panel.type in NOT_HERE) return <Message width={width} height={height} text={NOT_HERE[panel.type]} />;
  const frames = drawable(panel, data.frames);
  if (!frames.length) return <Message width={width} height={height} text={data.fieldConfig.defaults.noValue || 'No data'} />;
  const Kind = { timeseries: Lines, table: Table, stat: Values, bargauge: Values }[panel.type];
  if (!Kind) throw new Error(`panels of the type ${panel.type} are not drawn here`);
  return <Kind {...{ panel, data, frames, width, height, replace, theme, annotations }} />;
}

function Message({ text, width, height }) {
  return <div className="message" style={{ width, height }}>{text}</div>;
}

function Lines({ panel, data, frames, width, height, annotations }) {
  return (
    <TimeSeries frames={frames} structureRev={1} timeRange={data.range} timeZone="utc" width={width} height={height} legend={panel.options?.legend} options={panel.options}>
      {(config) => <Regions config={config} annotations={annotations} />}
    </TimeSeries>
  );
}

function Regions({ config, annotations }) {
  useLayoutEffect(() => {
    config.addHook('drawClear', (plot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      for (const { from, to, color } of annotations) {
        const [left, right] = [from, to].map((at) => Math.min(Math.max(plot.valToPos(at, 'x', true), bbox.left), bbox.left + bbox.width));
        ctx.globalAlpha = 0.1;
        ctx.fillStyle = color;
        ctx.fillRect(left, bbox.top, right - left, bbox.height);
      }
      ctx.restore();
    });
  }, [config]);
  return null;
}

function Table({ panel, data, frames, width, height }) {
  const { options = {} } = panel;
  const shown = frames[options.frameIndex ?? 0] ?? frames[0];
  return (
    <TableNG
      data={shown} width={width} height={height} noHeader={options.showHeader === false} cellHeight={options.cellHeight} sortBy={options.sortBy}
      frozenColumns={options.frozenColumns?.left} enablePagination={options.enablePagination} timeRange={data.range} fieldConfig={data.fieldConfig}
      showTypeIcons={options.showTypeIcons} noValue={data.fieldConfig.defaults.noValue} structureRev={1} enableVirtualization={false} resizable
    />
  );
}

/** The values that a panel of values shows, with their colours. */
export function valuesOf(panel, data, replace, theme) {
  const { options = {} } = panel;
  return getFieldDisplayValues({
    fieldConfig: data.fieldConfig, reduceOptions: { calcs: ['lastNotNull'], ...options.reduceOptions }, replaceVariables: replace, theme, data: data.frames,
    sparkline: options.graphMode === 'area', timeZone: 'utc',
  });
}

function Values({ panel, data, width, height, replace, theme }) {
  const { options = {}, type } = panel;
  const values = valuesOf(panel, data, replace, theme);
  const orientation = options.orientation && options.orientation !== 'auto' ? options.orientation : type === 'bargauge' ? VizOrientation.Horizontal : VizOrientation.Auto;
  const one = ({ value: shown, width: w, height: h, alignmentFactors }) => {
    if (type === 'bargauge') return <BarGauge {...{ theme, width: w, height: h, orientation, alignmentFactors }} value={shown.display} field={shown.field} display={shown.view?.getFieldDisplayProcessor(shown.colIndex)} displayMode={options.displayMode} showUnfilled={options.showUnfilled} />;
    return <BigValue {...{ theme, width: w, height: h }} count={values.length} value={shown.display} sparkline={shown.sparkline} colorMode={options.colorMode ?? 'value'} graphMode={options.graphMode ?? 'none'} justifyMode={options.justifyMode} textMode={options.textMode} wideLayout={options.wideLayout} text={options.text} />;
  };
  return <VizRepeater getValues={() => values} renderValue={one} source={data} width={width} height={height} orientation={orientation} itemSpacing={8} renderCounter={1} />;
}
