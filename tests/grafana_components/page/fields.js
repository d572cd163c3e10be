// The registry of what a panel can set on fields, with the defaults of Grafana's panels.
import {
  FieldType, Registry, dataLinksOverrideProcessor, displayNameOverrideProcessor, identityOverrideProcessor,
  numberOverrideProcessor, stringOverrideProcessor, thresholdsOverrideProcessor, unitOverrideProcessor, valueMappingsOverrideProcessor,
} from '@grafana/data';

const always = () => true;
const numbers = (field) => field.type === FieldType.number;
const notTime = (field) => field.type !== FieldType.time;

const STANDARD = [
  ['displayName', displayNameOverrideProcessor, always],
  ['description', stringOverrideProcessor, always],
  ['unit', unitOverrideProcessor, always],
  ['min', numberOverrideProcessor, numbers],
  ['max', numberOverrideProcessor, numbers],
  ['fieldMinMax', identityOverrideProcessor, numbers],
  ['decimals', numberOverrideProcessor, numbers],
  ['noValue', stringOverrideProcessor, always],
  ['color', identityOverrideProcessor, always],
  ['mappings', valueMappingsOverrideProcessor, always],
  ['thresholds', thresholdsOverrideProcessor, numbers],
  ['links', dataLinksOverrideProcessor, always],
  ['actions', identityOverrideProcessor, always],
];

const CUSTOM = {
  timeseries: [
    'drawStyle', 'lineInterpolation', 'barAlignment', 'lineWidth', 'fillOpacity', 'gradientMode', 'fillBelowTo', 'lineStyle', 'lineColor',
    'spanNulls', 'insertNulls', 'showPoints', 'showValues', 'pointSize', 'stacking', 'transform', 'axisPlacement', 'axisLabel', 'axisWidth',
    'axisSoftMin', 'axisSoftMax', 'axisGridShow', 'axisCenteredZero', 'axisBorderShow', 'axisColorMode', 'scaleDistribution', 'thresholdsStyle', 'hideFrom',
    'barWidthFactor', 'barMaxWidth',
  ],
  table: ['width', 'minWidth', 'align', 'cellOptions', 'inspect', 'filterable', 'hidden', 'hideFrom', 'wrapText', 'wrapHeaderText', 'footer', 'styleField', 'tooltip'],
};

const DEFAULTS = {
  thresholds: () => ({ mode: 'absolute', steps: [{ value: -Infinity, color: 'green' }, { value: 80, color: 'red' }] }),
  timeseries: { color: { mode: 'palette-classic' }, custom: { drawStyle: 'line', lineWidth: 1, showPoints: 'auto', pointSize: 5, fillOpacity: 0, spanNulls: false, insertNulls: false } },
  table: { color: { mode: 'thresholds' }, custom: { align: 'auto', cellOptions: { type: 'auto' } } },
  other: { color: { mode: 'thresholds' }, custom: {} },
};

export function registryOf(type) {
  return new Registry(() => [
    ...STANDARD.map(([id, process, shouldApply]) => ({ id, path: id, name: id, process, shouldApply, settings: {} })),
    ...(CUSTOM[type] ?? []).map((id) => ({ id: `custom.${id}`, path: id, name: id, isCustom: true, process: identityOverrideProcessor, shouldApply: id === 'axisLabel' ? notTime : always, settings: {} })),
  ]);
}

/** The field configuration of a panel, with Grafana's defaults where it sets nothing. */
export function configOf(panel) {
  const own = structuredClone(panel.fieldConfig ?? { defaults: {}, overrides: [] });
  const { custom, ...rest } = DEFAULTS[panel.type] ?? DEFAULTS.other;
  const defaults = { thresholds: DEFAULTS.thresholds(), ...rest, ...own.defaults, custom: { ...custom, ...own.defaults?.custom } };
  return { defaults, overrides: own.overrides ?? [] };
}
